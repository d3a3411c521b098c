"""Whatever is done to a trace: it is played, or refused in one sentence with its place. Nothing else happens."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.errors import UsageError
from bayplan.simulator.replay import Replay
from bayplan.simulator.traces import parse_trace
from bayplan.testing.effort import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL: dict[str, Any] = json.loads((Path(__file__).parent / "small.json").read_text())

#: Values that stand for themselves nowhere, and those that stand for something elsewhere.
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, -1, 0, 2**31, 2**63, 10**30, 0.5, "", "x", "-5", "1e30", "0.0001m", "8Ei", "1_000", "é\u0000"),
        *([], {}, [None], [{}], {"": ""}, "9223372036854775807", "NoSchedule", "kubernetes.io/hostname", "big", "pods"),
    ]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield (*path, key)
        yield from places(part, (*path, key))


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """The small trace with up to four things replaced, left out, doubled, or put elsewhere."""
    trace = deepcopy(SMALL)
    for _ in range(draw(st.integers(1, 4))):
        all_places = list(places(trace))
        *way, last = draw(st.sampled_from(all_places))
        holder = at(trace, way)
        match draw(st.sampled_from(["replace", "leave out", "double", "from elsewhere"])):
            case "replace":
                holder[last] = draw(ODD)
            case "leave out":
                del holder[last]
            case "double" if isinstance(holder, list):
                holder.append(deepcopy(holder[last]))
            case _:
                holder[last] = deepcopy(at(trace, draw(st.sampled_from(all_places))))
    return trace


def at(value: Any, way: Any) -> Any:
    for key in way:
        value = value[key]
    return value


@given(mutated())
@settings(max_examples=examples(150))
def test_any_trace_is_played_or_refused(trace: dict[str, Any]) -> None:
    try:
        replay = Replay(parse_trace(json.dumps(trace).encode(), "t.json"))
        replay.run()
    except UsageError as refused:
        said = str(refused)
    else:
        said = "t.json"
        replay.cache.check()
        assert all(0 <= count.agree <= count.compared for count in replay.agreement.counts.values())
        assert "NaN" not in json.dumps(replay.agreement.data())
    assert "t.json" in said
