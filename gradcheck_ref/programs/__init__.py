"""Check a function that lives in a program, in any language.

``from_command`` starts the program and returns the function; ``gradcheck-ref check -- ./program``
checks every derivative that the program offers. FORMAT.md describes the protocol; its tables are
made from ``table``.
"""
