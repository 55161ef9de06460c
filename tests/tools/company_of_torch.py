"""The circumstances of a backward, all of them, for torch's own operators and modules.

Run it by hand, with torch: ``python tests/tools/company_of_torch.py``, which takes some minutes.
Each operator is called as torch's own tests call it, in double precision, with up to two samples;
each module with the first sample of its tests. It prints what changes a gradient, and ends with 1
if that has no reason below.
"""

import sys
import time
import warnings
from collections.abc import Iterator

import torch
from operators_of_torch import calls_of, operators

from gradcheck_ref.adapters import from_torch
from gradcheck_ref.adapters.torch_call import ModuleFunction
from gradcheck_ref.adapters.torch_place import Place
from gradcheck_ref.check.claim.company import Company
from gradcheck_ref.check.knobs import RTOL

LIVE = "a defect of torch 2.13, confirmed by hand: docs/found.md"
MEMORY = "it is about the memory of its input: another function for another layout"
KNOWN = {
    "as_strided_scatter": LIVE,
    "kron": LIVE,
    "native_group_norm": LIVE,
    "nn.functional.rrelu": LIVE,
    "as_strided": MEMORY,
    "as_strided, partial_views": MEMORY,
    "as_strided_copy": MEMORY,
}


def of_operators() -> Iterator[tuple[str, Company]]:
    """Ask each operator again."""
    for op, dtype in operators():
        name = op.name + (f", {op.variant_test_name}" if op.variant_test_name else "")
        for call in calls_of(op, dtype):
            if not isinstance(call, Exception):
                try:
                    yield name, from_torch(call).company(True, RTOL, *call.point)
                except Exception as error:
                    print(f"{name}: left out: {str(error)[:80]}", file=sys.stderr)


def of_modules() -> Iterator[tuple[str, Company]]:
    """Ask each module again."""
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        double = {"device": "cpu", "dtype": torch.float64, "requires_grad": False}
        for sample in info.module_inputs_func(info, training=True, **double)[:1]:
            made, given = sample.constructor_input, sample.forward_input
            name = info.module_cls.__name__
            try:
                torch.manual_seed(0)
                module = info.module_cls(*made.args, **made.kwargs).double()
                place = Place("cpu", torch.float64)
                f = ModuleFunction(module, given.args, given.kwargs, None, 0, place)
                yield name, f.company(True, RTOL, **f.point)
            except Exception as error:
                print(f"{name}: left out: {str(error)[:80]}", file=sys.stderr)


def main() -> int:
    """Print what was found."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    strange = 0
    for kind, samples in (("operators", of_operators()), ("modules", of_modules())):
        start, count, found = time.perf_counter(), 0, dict[str, str]()
        for name, company in samples:
            count += bool(company.tried)
            if company.fault or company.note:
                found.setdefault(name, company.fault or company.note)
        seconds = time.perf_counter() - start
        print(f"{kind}: {count} samples, {len(found)} with a finding, {seconds:.0f} s")
        for name, said in found.items():
            strange += name not in KNOWN
            print(f"  {name}: {said}\n    {KNOWN.get(name, 'NO REASON KNOWN')}")
    return int(strange > 0)


if __name__ == "__main__":
    sys.exit(main())
