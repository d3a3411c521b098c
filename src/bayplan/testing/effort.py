"""How long Hypothesis looks: a test says how many examples are enough, and one profile asks for more of all of them."""

from __future__ import annotations

from hypothesis import settings

#: What Hypothesis itself takes for enough.
_USUAL = 100


def examples(few: int) -> int:
    """So many examples, and as many times more as the profile asks for more than Hypothesis' usual 100."""
    return max(1, few * settings().max_examples // _USUAL)
