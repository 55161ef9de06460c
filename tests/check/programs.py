"""The random programs of ``tests/tools``, for tests that need one of them."""

import numpy as np
import random_programs


@np.errstate(all="ignore")  # a program may be grown out of a domain, and is cut back then
def drawn(kind, seed):
    """Return one program: a function with a point, its gradient, and the mistakes to make in it."""
    program = random_programs.drawn(kind, seed)
    slips = random_programs.slips(program, kind, seed)
    wrong = {slip: program.gradient(program.weights, (slip, at)) for slip, at in slips}
    return program, program.gradient(program.weights), wrong
