"""The vectors, computed from scratch: exact fractions, decimals of 60 digits, and nothing else.

Only the standard library is used, never NumPy and never this package, so that no mistake of the
implementation can hide in what it is judged by. From the folder above, with nothing installed:

    python -S -m generate

computes all of them again. What is published it finds as it is, or stops; what is not published
yet it writes, as the open release (``layout.py``).
"""
