"""Measure f around the point: lines through it, and witnesses along them."""
