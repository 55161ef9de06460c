"""The answers of the vectors, computed from scratch: exact fractions, decimals of 60 digits.

It uses only the standard library, neither NumPy nor this package, so that no mistake of the
implementation can hide in its own judge. From the folder above, with nothing installed:

    python -S -m generate

reads the questions of the release, and answers all of them again. The answers of a published
release come out as they are. For a question of an open release, a line of its file with an id, a
description, flags and the inputs, this writes the answer.
"""
