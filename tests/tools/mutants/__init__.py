"""Mistaken implementations for the oracle: they show what its vectors are worth.

``clients`` has whole programs: their rules, quotients and walks, and what they keep from one
question to the next; ``slips`` has mistakes in verdicts. ``coverage`` lets each of them answer the
vectors, and counts those that it fails.
"""
