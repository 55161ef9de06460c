"""The gradient checkers people already know, in NumPy: same names, same contracts, same verdicts.

`cs231n`, `tvm`, `torch` and `warp` each hold the functions of that name, with its defaults, its
exceptions and its order of tests, in code short enough to read. Where the original has a bug, the
right thing is done, and the module says so under *Differs on purpose*.

They decide as the originals do, so they also miss what these miss: `gradcheck_ref.check_gradient`
is the check to use.
"""
