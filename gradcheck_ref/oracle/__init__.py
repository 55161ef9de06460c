"""The oracle: frozen test vectors, and a protocol for judging any implementation.

``vectors/v1/*.json`` say what a gradient checker must answer; FORMAT.md says how to read them and
what you may rely on. ``generate`` computes them from exact arithmetic, knowing nothing of this
package. ``runner`` starts an implementation in whatever language, asks it every question, one line
of JSON each, and ``judge`` compares its replies with the vectors; ``protocol`` answers the same
questions with this package.

    python -m gradcheck_ref oracle test -- ./my-checker
"""
