"""A program with a function of two inputs, which is right but for what a test lets it do."""

import sys

from gradcheck_ref import __main__

# f(w, b) = b sum(sin(c w)) + b^2, without NumPy: it starts in 20 ms. Words in capitals are places
# where a test puts a statement of its own.
CODE = """
import json, math, os, struct, sys, time

C = [0.5, -1.25, 2.0, 0.75, -0.5, 1.5]
W = [0.25, -0.5, 0.75, 1.25, -1.0, 0.5]
asked = 0

def say(reply):
    print(reply if isinstance(reply, str) else json.dumps(reply), flush=True)

def read(point):
    return [float(v) for v in point["whole"]["w"]], float(point["whole"]["b"])

def value(w, b):
    return b * sum(math.sin(c * v) for c, v in zip(C, w)) + b * b

def in_file(content):
    with open(os.environ["FILE"], "wb") as file:
        file.write(content)
    return {"file": file.name}

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


# How a program reads and writes N numbers, as text or in files.
IN_FILES = """
import json, math, os, struct, sys

def read(said):
    if isinstance(said, list):
        return [float(v) for v in said]
    with open(said["file"], "rb") as file:
        return struct.unpack("<%dd" % N, file.read())

def written(numbers, request, name):
    if "folder" not in request:
        return [repr(v) for v in numbers]
    path = os.path.join(request["folder"], name)
    with open(path, "wb") as file:
        file.write(struct.pack("<%dd" % N, *numbers))
    return {"file": path}
"""

# f(w) = sum(c tanh(w)) of 100 numbers, enough for random lines; or of as many as one likes.
LARGE = """
N = SIZE
X = [math.sin(i + 1.0) for i in range(N)]
C = [math.cos(3.0 * i) + 1.5 for i in range(N)]

def value(w):
    return sum(c * math.tanh(v) for c, v in zip(C, w))

for line in sys.stdin:
    request = json.loads(line)
    ask, reply = request["ask"], {"id": request["id"]}
    if ask == "hello":
        reply |= {"protocol": 1, "name": "large 1", "answers": ["describe", "value", "gradient"]}
        reply |= {"files": FILES, "batch": BATCH}
    elif ask == "describe":
        reply["inputs"] = [{"name": "w", "shape": [N], "default": [repr(v) for v in X]}]
    elif ask == "value":
        reply["values"] = [repr(value(read(p["whole"]["w"]))) for p in request["points"]]
    else:
        w = read(request["point"]["whole"]["w"])
        reply["gradient"] = written([c / math.cosh(v) ** 2 for c, v in zip(C, w)], request, "g")
    print(json.dumps(reply), flush=True)
"""


def large_child(files=True, batch=64, size=100, slips=()):
    """Return the command of a program of so many inputs, which reads files.

    A slip is a pair of what stands in its code and what stands there instead.
    """
    code = IN_FILES + LARGE.replace("FILES", repr(files))
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


# y = w sin(w), entry by entry, with all that is large in files.
VECTOR = """
N = 30

for line in sys.stdin:
    request = json.loads(line)
    ask, reply = request["ask"], {"id": request["id"]}
    if ask == "hello":
        reply |= {"protocol": 1, "name": "vector", "files": True}
        reply["answers"] = ["describe", "value", "vjp", "jvp"]
    elif ask == "describe":
        default = [repr(0.1 * i) for i in range(1, N + 1)]
        reply["inputs"] = [{"name": "w", "shape": [N], "default": default}]
        reply["outputs"] = [{"name": "y", "shape": [N]}]
    elif ask == "value":
        w = read(request["points"][0]["whole"]["w"])
        reply["values"] = [written([v * math.sin(v) for v in w], request, "y")]
    else:
        slopes = [math.sin(v) + v * math.cos(v) for v in read(request["point"]["whole"]["w"])]
        along = read(request["upstream"] if ask == "vjp" else request["tangent"]["w"])
        reply[ask] = written([WRONG * s * a for s, a in zip(slopes, along)], request, ask)
    print(json.dumps(reply), flush=True)
"""


def vector_child(wrong=1):
    """Return the command of a program with products, which are wrong by this factor."""
    return _python(IN_FILES + VECTOR.replace("WRONG", repr(wrong)))


def _python(code):
    return [sys.executable, "-I", "-S", "-c", code]


def check(command, *options):
    """Check a program as a user does on the command line; return the exit status."""
    return __main__.main(["check", *map(str, options), "--", *command])


def noting(log, command):
    """Return a command that notes in a file what the program is sent."""
    return ["sh", "-c", 'log=$1; shift; tee "$log" | "$@"', "sh", str(log), *command]
