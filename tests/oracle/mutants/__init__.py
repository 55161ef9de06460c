"""Mistaken implementations for the oracle: they show what its vectors are worth.

``mistakes`` has those of the comparison rules, ``slips`` those of verdicts, ``clients`` whole
programs: their quotients and walks, and what they keep from one question to the next.
``coverage`` lets each of them answer the vectors, and counts those that it fails.
"""
