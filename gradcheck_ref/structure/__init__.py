"""The inputs and outputs of f: trees of arrays, named, and as one flat real vector each."""
