"""The oracle: frozen test vectors, and a protocol for judging any implementation.

``vectors/v1/*.json`` have the questions and the right answers; FORMAT.md says how to read them and
what you may rely on. ``generate`` computes the answers in exact arithmetic, without this package.
``runner`` starts an implementation in any language, asks it every question, one line of JSON each,
and ``judge`` compares its replies with the vectors; ``protocol`` answers the same
questions with this package.

    python -m gradcheck_ref oracle test -- ./my-checker
"""
