"""A program with a function of two inputs, which is right but for what a test lets it do."""

import sys

# f(w, b) = b sum(sin(c w)) + b^2, without NumPy: it starts in 20 ms. Words in capitals are places
# where a test puts a statement of its own.
CODE = """
import base64, json, math, os, struct, sys, time

C = [0.5, -1.25, 2.0, 0.75, -0.5, 1.5]
W = [0.25, -0.5, 0.75, 1.25, -1.0, 0.5]
asked = 0

def say(reply):
    print(reply if isinstance(reply, str) else json.dumps(reply), flush=True)

def read(point):
    return [float(v) for v in point["whole"]["w"]], float(point["whole"]["b"])

def value(w, b):
    return b * sum(math.sin(c * v) for c, v in zip(C, w)) + b * b

def slopes(w, b):
    return [b * c * math.cos(c * v) for c, v in zip(C, w)], value(w, b) / b + b

BEFORE
for line in sys.stdin:
    request = json.loads(line)
    ask, reply = request["ask"], {"id": request["id"]}
    asked += 1
    if ask == "hello":
        reply |= {"protocol": 1, "name": "child 1", "answers": ["describe", "value", "gradient"]}
        HELLO
    elif ask == "describe":
        w = {"name": "w", "shape": [2, 3], "default": [repr(v) for v in W]}
        b = {"name": "b", "shape": [], "default": "0.5"}
        reply["inputs"] = [w, b]
        DESCRIBE
    elif ask == "value":
        points = [read(point) for point in request["points"]]
        w, b = points[0]
        at_x = (w, b) == (W, 0.5)
        reply["values"] = values = [repr(value(*point)) for point in points]
        VALUE
    else:
        w, b = read(request["point"])
        dw, db = slopes(w, b)
        GRADIENT
        reply["gradient"] = {"w": [repr(v) for v in dw], "b": repr(db)}
        REPLY
    say(reply)
"""
PLACES = ("BEFORE", "HELLO", "DESCRIBE", "VALUE", "GRADIENT", "REPLY")


def child(**statements):
    """Return the command of the program, with statements at some places, named in small letters."""
    code = CODE
    for place in PLACES:
        code = code.replace(place, statements.pop(place.lower(), "pass"))
    assert not statements
    return _python(code)


# f(w) = sum(c tanh(w)) of 100 numbers, enough for random lines; or of fewer. It understands all
# short forms.
SHORT = """
import base64, json, math, struct, sys

N = SIZE
X = [math.sin(i + 1.0) for i in range(N)]
C = [math.cos(3.0 * i) + 1.5 for i in range(N)]
kept = {}

def encoded(numbers):
    return {"base64": base64.b64encode(struct.pack("<%dd" % N, *numbers)).decode()}

def decoded(said):
    if isinstance(said, list):
        return [float(v) for v in said]
    return struct.unpack("<%dd" % N, base64.b64decode(said["base64"]))

def bits(said):
    content = base64.b64decode(said["w"]["base64"]) if "w" in said else bytes(N)
    return [content[i >> 3] >> (i & 7) & 1 for i in range(N)]

def read(point):
    if "whole" in point:
        return decoded(point["whole"]["w"])
    w = list(kept["point"])
    for _, place, value in point.get("entries", ()):
        w[place] = float(value)
    if "step" in point:
        w = [x + float(point["step"]) * d for x, d in zip(w, kept["direction"])]
    return w

for line in sys.stdin:
    request = json.loads(line)
    ask, reply = request["ask"], {"id": request["id"]}
    if ask == "hello":
        reply |= {"protocol": 1, "name": "short 1", "answers": ["describe", "value", "gradient"]}
        reply |= {"encodings": ["text", "base64"], "deterministic": True, "batch": BATCH}
        reply |= {"points": POINTS}
    elif ask == "describe":
        reply["inputs"] = [{"name": "w", "shape": [N], "default": encoded(X)}]
    elif ask == "keep":
        if "point" in request:
            kept["point"] = decoded(request["point"]["w"])
        if "scale" in request:
            kept["scale"] = decoded(request["scale"]["w"])
        if "forward" in request:
            forward, backward = bits(request["forward"]), bits(request["backward"])
            kept["direction"] = [s * (f - b) for s, f, b in zip(kept["scale"], forward, backward)]
        reply["kept"] = True
    elif ask == "value":
        points = [read(point) for point in request["points"]]
        reply["values"] = [repr(sum(c * math.tanh(v) for c, v in zip(C, w))) for w in points]
    else:
        w = read(request["point"])
        reply["gradient"] = encoded([c / math.cosh(v) ** 2 for c, v in zip(C, w)])
    print(json.dumps(reply), flush=True)
"""


def short_child(points=("whole", "entries", "lines"), batch=64, size=100, slips=()):
    """Return the command of a program of so many inputs that takes points in these forms.

    A slip is a pair of what stands in its code and what stands there instead.
    """
    code = SHORT.replace("POINTS", repr(list(points)))
    code = code.replace("BATCH", str(batch)).replace("SIZE", str(size))
    for right, wrong in slips:
        assert code.count(right) == 1, right
        code = code.replace(right, wrong)
    return _python(code)


# Two outputs, of which one is float32, and a constant of integers; it answers vjp and jvp.
PRODUCTS = """
import json, math, struct, sys

def f(x, table):
    y = [math.sin(v * t) for v, t in zip(x, table)]
    return {"y": [repr(struct.unpack("f", struct.pack("f", v))[0]) for v in y],
            "z": repr(x[0] * x[1] * table[2])}

for line in sys.stdin:
    request = json.loads(line)
    ask, reply = request["ask"], {"id": request["id"]}
    def read(point):
        whole = point["whole"]
        return [float(v) for v in whole["x"]], [int(v) for v in whole["table"]]
    if "point" in request:
        x, table = read(request["point"])
        slopes = [t * math.cos(v * t) for v, t in zip(x, table)]
        others = [x[1] * table[2], x[0] * table[2]]
    if ask == "hello":
        reply |= {"protocol": 1, "name": "two", "answers": ["describe", "value", "vjp", "jvp"]}
    elif ask == "describe":
        reply["inputs"] = [
            {"name": "x", "shape": [2], "default": ["0.5", "-1.25"]},
            {"name": "table", "shape": [3], "dtype": "int64", "default": ["2", "1", "3"]},
        ]
        reply["outputs"] = [
            {"name": "y", "shape": [2], "dtype": "float32"}, {"name": "z", "shape": []},
        ]
    elif ask == "value":
        reply["values"] = [f(*read(point)) for point in request["points"]]
    elif ask == "vjp":
        y, z = [float(v) for v in request["upstream"]["y"]], float(request["upstream"]["z"])
        reply["vjp"] = [repr(u * s + z * o + WRONG) for u, s, o in zip(y, slopes, others)]
    else:
        t = [float(v) for v in request["tangent"]["x"]]
        z = sum(v * o for v, o in zip(t, others))
        reply["jvp"] = {"y": [repr(v * s) for v, s in zip(t, slopes)], "z": repr(z)}
        JVP
    print(json.dumps(reply), flush=True)
"""


def products_child(wrong=0, jvp="pass"):
    """Return the command of a program with products, whose vjp is off by so much.

    Before it replies to jvp it carries out a statement.
    """
    return _python(PRODUCTS.replace("WRONG", repr(wrong)).replace("JVP", jvp))


# As many inputs as one likes, of two numbers each; it takes entries.
MANY_INPUTS = """
import json, math, sys

NAMES = [f"a{i}" for i in range(MANY)]
kept = {}

def read(point):
    if "whole" in point:
        return {name: [float(v) for v in point["whole"][name]] for name in NAMES}
    at = {name: list(kept[name]) for name in NAMES}
    for number, (name, place, value) in enumerate(point["entries"]):
        i = NAMES.index(name)
        if READS:
            at[name][place] = float(value)
    return at

for line in sys.stdin:
    request = json.loads(line)
    ask, reply = request["ask"], {"id": request["id"]}
    if ask == "hello":
        reply |= {"protocol": 1, "name": "many", "answers": ["describe", "value", "gradient"]}
        reply["points"] = ["whole", "entries"]
    elif ask == "describe":
        reply["inputs"] = [{"name": n, "shape": [2], "default": ["0.5", "0.25"]} for n in NAMES]
    elif ask == "keep":
        kept, reply["kept"] = read({"whole": request["point"]}), True
    elif ask == "value":
        points = map(read, request["points"])
        reply["values"] = [repr(sum(math.sin(u) * v for u, v in p.values())) for p in points]
    else:
        at = read(request["point"])
        slopes = {name: [v * math.cos(u), math.sin(u)] for name, (u, v) in at.items()}
        reply["gradient"] = {name: [repr(g) for g in both] for name, both in slopes.items()}
    print(json.dumps(reply), flush=True)
"""


def many_inputs_child(many, reads="True"):
    """Return the command of a program of so many inputs, a0 and so on.

    Of an entry it reads what it should: of the i-th input, and of this number in its list.
    """
    return _python(MANY_INPUTS.replace("MANY", str(many)).replace("READS", reads))


def _python(code):
    return [sys.executable, "-I", "-S", "-c", code]
