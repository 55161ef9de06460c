"""The vectors, computed from scratch: exact fractions, decimals of 60 digits, and nothing else.

It uses only the standard library, neither NumPy nor this package, so that no mistake of the
implementation can hide in its own judge. From the folder above, with nothing installed:

    python -S -m generate

computes all of them again. It stops if a published vector has changed, and writes the unpublished
ones as the open release (``layout.py``).
"""
