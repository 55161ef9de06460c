"""Questions in a file, replies in another: for what cannot be started from here.

A machine without Python, a simulator, a phone: it reads the questions whenever it likes, and what
it has replied is judged later, as a conversation would have been.
"""

import json
from collections.abc import Iterable, Iterator

from gradcheck_ref.messages import LineError, read_line, shortened
from gradcheck_ref.oracle.judge import Outcome, judge
from gradcheck_ref.oracle.runner import ImplementationError, Run
from gradcheck_ref.oracle.table import HELLO_REPLY, KINDS, PROTOCOL
from gradcheck_ref.oracle.vectors import Vector


def requests(vectors: Iterable[Vector]) -> Iterator[str]:
    """Write the questions, hello first, one line of JSON each.

    Examples
    --------
    >>> from gradcheck_ref.oracle.vectors import load_vectors
    >>> next(requests(load_vectors()))
    '{"id": "hello", "ask": "hello", "protocol": 1}'
    """
    yield json.dumps({"id": "hello", "ask": "hello", "protocol": PROTOCOL})
    for vector in vectors:
        yield json.dumps(vector.request, allow_nan=False)


def judged(lines: Iterable[bytes], vectors: Iterable[Vector], name: str) -> Run:
    """Judge replies, in whatever order they come.

    Parameters
    ----------
    lines : iterable of bytes
        The replies. The one to hello says who it is, and what it answers; without it the
        implementation has the ``name``, and is taken to answer whatever kind it replies to.
    vectors : iterable of Vector
        What was asked.
    name : str
        How to call who does not say hello.

    Returns
    -------
    Run
        A question without a reply is an error, and so is one with two.

    Raises
    ------
    ImplementationError
        If the reply to hello is not right, or nothing is replied that was asked.
    """
    found, asked = Run(name), {vector.id: vector for vector in vectors}
    replied: dict[str, Outcome] = {}
    for line in filter(bytes.strip, lines):
        try:
            reply = read_line(line)
        except LineError:
            found.strays += 1
            continue
        identity = reply.get("id")
        if identity == "hello" and not found.answers:
            if why := HELLO_REPLY.wrong(reply, "the reply to hello"):
                raise ImplementationError(f"{why}. It is {shortened(reply)}")
            found.name, found.answers = reply["name"], reply["answers"]
        elif not isinstance(identity, str) or identity not in asked:
            found.strays += 1
        elif identity in replied:
            vector = asked[identity]
            replied[identity] = Outcome(vector, "error", "replied to twice", shortened(reply))
        else:
            replied[identity] = judge(asked[identity], reply)
    if not found.answers:
        met = {asked[identity].kind for identity in replied}
        found.answers = [kind for kind in KINDS if kind in met]
    promised = [v for v in asked.values() if found.promises(v.kind, v.group)]
    if not promised:
        raise ImplementationError("there is no reply to anything that is asked")
    found.declined = [v for v in asked.values() if not found.promises(v.kind, v.group)]
    found.outcomes = [replied.get(v.id) or Outcome(v, "error", "no reply") for v in promised]
    return found
