"""The inputs and outputs of f: named trees of arrays, and one flat real vector for each side."""
