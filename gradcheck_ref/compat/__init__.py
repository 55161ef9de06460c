"""The gradient checkers people already know, in NumPy: the same names, defaults and verdicts.

`cs231n`, `tvm`, `torch` and `warp` each hold the functions of that name, with its defaults, its
exceptions and its order of tests, in code short enough to read. If the original has a bug, the
module does the right thing and says so under *Differs on purpose*.

They decide like the originals, so they also miss the same mistakes: `gradcheck_ref.check_gradient`
is the check to use.
"""
