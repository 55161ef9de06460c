"""A first client of the oracle: one quotient, one rule, as in *Write a client in an hour*.

python -m gradcheck_ref oracle test -- python docs/examples/first_client.py
"""

# --8<-- [start:answers]
import json
import math
import sys


class RefusedError(Exception):
    """The question makes no sense."""


def forward(request):
    """Divide the rise from x to x + h by the distance between the two places."""
    x, h = float(request["x"]), float(request["h"])
    if not (math.isfinite(x) and 0 < h < math.inf):
        raise RefusedError("x or h")
    (_, _), (_, _), (here, f_here), (ahead, f_ahead), (_, _) = request["samples"]
    step = float(ahead) - float(here)
    if not (math.isfinite(step) and step > 0):
        raise RefusedError("x + h is x, or too large")
    return {"slope": repr((float(f_ahead) - float(f_here)) / step)}


def torch(request):
    """Compare as torch does: |a - n| <= atol + rtol |n|, and equal infinities pass."""
    if shape(request["analytic"]) != shape(request["numeric"]):
        raise RefusedError("the shapes differ")
    rtol, atol = float(request["rtol"]), float(request["atol"])
    close = True

    def error(analytic, numeric):
        nonlocal close
        if isinstance(analytic, list):
            return [error(a, n) for a, n in zip(analytic, numeric, strict=True)]
        a, n = float(analytic), float(numeric)
        within = math.isfinite(a - n) and abs(a - n) <= atol + rtol * abs(n)
        close = close and (a == n or within)
        return repr(abs(a - n))

    told = error(request["analytic"], request["numeric"])
    return {"close": close, "error": told}


def shape(value):
    """Count the parts along each dimension."""
    return [len(value), *(shape(value[0]) if value else [])] if isinstance(value, list) else []


# --8<-- [end:answers]
# --8<-- [start:loop]
HELLO = {"protocol": 1, "name": "my-checker 0.1", "answers": ["stencil/forward", "compare/torch"]}

for line in sys.stdin:
    request = json.loads(line)
    try:
        if request["ask"] == "hello":
            reply = HELLO
        elif request["ask"] == "stencil":
            reply = forward(request)
        else:
            reply = torch(request)
    except RefusedError as why:
        reply = {"refused": str(why)}
    print(json.dumps({"id": request["id"], **reply}), flush=True)
# --8<-- [end:loop]
