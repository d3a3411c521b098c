"""What recording does with the objects that are there before anything happens."""

from __future__ import annotations

from bayplan.testing.recorder.recording import as_made


def _pod(name: str, namespace: str | None = None) -> dict[str, object]:
    metadata = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    return {"kind": "Pod", "metadata": metadata}


def test_objects_stand_in_the_order_in_which_they_were_made() -> None:
    listed = [_pod("a", "default"), _pod("b", "default"), _pod("system", "default"), _pod("c", "other")]

    made = as_made(listed, [_pod("c", "other"), _pod("b"), _pod("a", "default")])

    assert made == [listed[3], listed[1], listed[0], listed[2]]
