"""A function that lives in a program, in any language: asked for values, and checked.

``from_command`` starts the program and returns the function; ``gradcheck-ref check -- ./program``
checks all that the program claims to know. FORMAT.md is the protocol, and ``table`` what it is made
from.
"""
