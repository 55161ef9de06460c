"""Questions in one file, replies in another: for programs that this computer cannot start.

A machine without Python, a simulator or a phone reads the questions at any time, and its replies
are judged later, like those of a conversation.
"""

import json
import re
from collections.abc import Iterable, Iterator

from gradcheck_ref.conversation.child import LONGEST_LINE, OVERSIZED
from gradcheck_ref.conversation.messages import LineError, read_line, shortened
from gradcheck_ref.oracle.judge import Outcome, judge
from gradcheck_ref.oracle.runner import ImplementationError, Run
from gradcheck_ref.oracle.table import HELLO_REPLY, KINDS, SAY_HELLO
from gradcheck_ref.oracle.vectors import Vector


def requests(vectors: Iterable[Vector]) -> Iterator[str]:
    """Write the questions, hello first, one line of JSON each.

    Examples
    --------
    >>> from gradcheck_ref.oracle.vectors import load_vectors
    >>> next(requests(load_vectors()))
    '{"id": "hello", "ask": "hello", "protocol": 1}'
    """
    yield json.dumps(SAY_HELLO)
    for vector in vectors:
        yield json.dumps(vector.request, allow_nan=False)


def judged(lines: Iterable[bytes], vectors: Iterable[Vector], name: str) -> Run:
    """Judge replies, in any order.

    Parameters
    ----------
    lines : iterable of bytes
        The replies. The reply to hello has the name, and what it answers. Without that reply, the
        implementation has the ``name``, and is asked about every kind to which it replies.
    vectors : iterable of Vector
        The questions.
    name : str
        The name of a program that does not say hello.

    Returns
    -------
    Run
        A question without a reply is an error, and so is one with two.

    Raises
    ------
    ImplementationError
        If the reply to hello is wrong, or no reply belongs to a question.
    """
    found, asked = Run(name), {vector.id: vector for vector in vectors}
    replied: dict[str, Outcome] = {}
    why_not = ""  # the problem with the first line that answers no question
    for said in filter(bytes.strip, lines):
        line = said if len(said) <= LONGEST_LINE else OVERSIZED
        try:
            reply = read_line(line)
        except LineError as error:
            found.stray(line)
            why_not = why_not or f"cannot be read: {error}"
            continue
        identity = reply.get("id")
        if identity == "hello" and not found.answers:
            if why := HELLO_REPLY.wrong(reply, "the reply to hello"):
                raise ImplementationError(f"{why}. It is {shortened(reply)}")
            found.name, found.answers = reply["name"], reply["answers"]
        elif not isinstance(identity, str) or identity not in asked:
            found.stray(line)
            told = shortened(json.dumps(identity), 60)
            why_not = why_not or f"has the id {told}{_drawn_from(told)}"
        elif identity in replied:
            vector = asked[identity]
            replied[identity] = Outcome(vector, "error", "replied to twice", shortened(reply))
        else:
            replied[identity] = judge(asked[identity], reply)
    if not found.answers:
        met = {asked[identity].kind for identity in replied}
        found.answers = [kind for kind in KINDS if kind in met]
    promised = found.promised(asked.values())
    if not replied or not promised:
        told = f"; the first line that is none {why_not}" if why_not else ""
        raise ImplementationError(f"there is no reply to anything that is asked{told}")
    found.outcomes = [replied.get(v.id) or Outcome(v, "error", "no reply") for v in promised]
    return found


def _drawn_from(identity: str) -> str:
    """Say how to judge replies to random vectors, whose ids have the seed."""
    drawn = re.fullmatch(r'"[a-z]+-random-(-?\d+)-\d+"', identity)
    return f": it was drawn from seed {drawn[1]}, --random N --seed {drawn[1]}" if drawn else ""
