"""TaintToleration: which taints keep a pod away, and which make a node less welcome."""

from __future__ import annotations

import pytest

from bayplan.contract.verdicts import Kind
from bayplan.plugins.tainttoleration import TaintToleration
from bayplan.testing import PluginTests, Scene, node, pod, strategies


class TestPromises(PluginTests):
    plugin = TaintToleration()
    pods = strategies.pods("tolerations")
    examples = 10


@pytest.mark.parametrize(
    ("taint", "tolerations", "rejected"),
    [
        ("gpu=yes:NoSchedule", [], True),
        ("gpu=yes:NoExecute", [], True),
        ("gpu=yes:PreferNoSchedule", [], False),
        ("gpu=yes:NoSchedule", ["gpu"], False),
        ("gpu=yes:NoSchedule", ["gpu=yes"], False),
        ("gpu=yes:NoSchedule", ["gpu=no"], True),
        ("gpu=yes:NoSchedule", ["gpu:NoExecute"], True),
        ("gpu=yes:NoSchedule", ["gpu:NoExecute", "gpu:NoSchedule"], False),
        ("gpu=yes:NoSchedule", ["cpu"], True),
        ("gpu=yes:NoSchedule", ["*"], False),
        ("gpu:NoSchedule", ["gpu="], False),
    ],
)
def test_a_taint_repels_who_does_not_tolerate_it(taint: str, tolerations: list[str], rejected: bool) -> None:
    scene = Scene()
    scene.add(node("tainted", taints=[taint]), node("plain"))

    verdicts = scene.verdicts(TaintToleration(), pod(tolerations=tolerations))

    assert verdicts["plain"]
    assert bool(verdicts["tainted"]) is not rejected
    if rejected:
        assert verdicts["tainted"].kind is Kind.UNRESOLVABLE
        assert verdicts["tainted"].reasons == ("node(s) had untolerated taint(s)",)


def test_all_taints_must_be_tolerated() -> None:
    scene = Scene()
    scene.add(node("two", taints=["gpu:NoSchedule", "old:NoExecute"]))

    assert scene.rejected(TaintToleration(), pod(tolerations=["gpu"]))
    assert not scene.rejected(TaintToleration(), pod(tolerations=["gpu", "old"]))


def test_the_fewer_unwelcoming_taints_the_better() -> None:
    scene = Scene()
    scene.add(
        node("none"),
        node("one", taints=["a:PreferNoSchedule"]),
        node("two", taints=["a:PreferNoSchedule", "b:PreferNoSchedule"]),
        node("other", taints=["a:NoSchedule"]),
    )

    assert scene.scores(TaintToleration(), pod()) == {"none": 0, "one": 1, "two": 2, "other": 0}
    assert scene.points(TaintToleration(), pod()) == {"none": 100, "one": 50, "two": 0, "other": 100}
    tolerant = pod(tolerations=["a:PreferNoSchedule"])
    assert scene.points(TaintToleration(), tolerant) == {"none": 100, "one": 100, "two": 0, "other": 100}


def test_a_toleration_of_another_effect_makes_nothing_more_welcome() -> None:
    scene = Scene()
    scene.add(node("plain"), node("one", taints=["a:PreferNoSchedule"]))

    assert scene.points(TaintToleration(), pod(tolerations=["a:NoSchedule"])) == {"plain": 100, "one": 0}
    assert scene.points(TaintToleration(), pod(tolerations=["a"])) == {"plain": 100, "one": 100}
