"""JSON that is nested more deeply than a decoder follows.

Kubernetes keeps custom objects that are 10,000 levels deep. A decoder that calls itself for each level gives up long
before, even on what it only skips; and with it goes the whole list in which such an object stands. Here what lies too
deep is cut out without recursion, so that all else can be read.
"""

from __future__ import annotations

import re
from typing import Final

#: Levels that are kept: far more than any type of Kubernetes has, far fewer than stop a decoder.
DEEPEST: Final = 200

#: Stands where something was cut out. Whoever writes it into an object of his own only hides that object from us.
CUT: Final = b'"\xe2\x80\xa6 nested too deeply to be read \xe2\x80\xa6"'

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|(?P<opens>[\[{])|(?P<closes>[\]}])', re.DOTALL)


def without_depths(text: bytes) -> bytes:
    """The text with each list and mapping that lies too deep replaced by `CUT`. It need not be JSON."""
    kept: list[bytes] = []
    depth = start = 0
    for token in _TOKEN.finditer(text):
        if token["opens"]:
            if depth == DEEPEST:
                kept.append(text[start : token.start()])
            depth += 1
        elif token["closes"]:
            depth -= 1
            if depth == DEEPEST:
                kept.append(CUT)
                start = token.end()
    if depth <= DEEPEST:
        kept.append(text[start:])
    return b"".join(kept)
