"""`bayplan replay`, `bayplan explain` and `bayplan bench engine`: what they print, and how they end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

    Bayplan = Callable[..., "Done"]
    Golden = Callable[[str, str], None]

TESTS = Path(__file__).parent.parent
SMALL = TESTS / "simulator" / "small.json"


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def bayplan(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Bayplan:
    """Run a command here, where numpy is imported already."""
    monkeypatch.chdir(folder)

    def bayplan(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as leaving:
            main(arguments)
        assert isinstance(leaving.value.code, int)
        return Done(leaving.value.code, *capsys.readouterr())

    return bayplan


def apart(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own: what measures its process must have one."""
    return subprocess.run(
        [sys.executable, "-m", "bayplan", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a trace that agrees, one that does not, and one that is none."""
    small = json.loads(SMALL.read_text())
    (tmp_path / "good.json").write_text(json.dumps(small))
    small["steps"][0]["scores"]["NodeResourcesFit"]["big"] = 67
    small["steps"][1]["node"] = "little"
    small["steps"][2]["message"] = "0/2 nodes are available: 2 Insufficient luck."
    small["steps"][4]["victims"] = ["default/there"]
    small["objects"].append({"kind": "PersistentVolume", "metadata": {"name": "disk"}, "status": {"phase": "Pending"}})
    (tmp_path / "differs.json").write_text(json.dumps(small))
    (tmp_path / "none.json").write_text("[]")
    return tmp_path


def test_a_trace_that_agrees_is_one_object_and_exit_0(bayplan: Bayplan, golden: Golden) -> None:
    done = bayplan("replay", "good.json", "--output", "json")
    assert (done.returncode, done.stderr) == (0, "")
    golden("replay-good.json", done.stdout)


def test_what_differs_is_in_the_json_with_all_to_debug_it_and_exit_1(bayplan: Bayplan, golden: Golden) -> None:
    done = bayplan("replay", "differs.json", "--output", "json")
    assert (done.returncode, done.stderr) == (1, "")
    found = json.loads(done.stdout)
    assert all({"aspect", "trace", "step", "pod", "ours", "theirs"} <= one.keys() for one in found["disagreements"])
    golden("replay-differs.json", done.stdout)


def test_several_traces_have_totals_and_each_its_own(bayplan: Bayplan) -> None:
    done = bayplan("replay", "good.json", "differs.json", "--output", "json")
    assert done.returncode == 1
    together = json.loads(done.stdout)
    good, differs = together["traces"]
    assert (good["name"], differs["name"]) == ("good.json", "differs.json")
    assert together["steps"] == good["steps"] + differs["steps"]
    for aspect in ("feasible", "scores", "choice", "message", "preemption"):
        for number in ("compared", "agree"):
            assert together[aspect][number] == good[aspect][number] + differs[aspect][number]
    assert together["disagreements"] == differs["disagreements"]


def test_the_table_has_the_first_differences_under_the_trace(bayplan: Bayplan, golden: Golden) -> None:
    done = bayplan("replay", "good.json", "differs.json")
    assert done.returncode == 1
    golden("replay.txt", done.stdout + done.stderr)


def test_many_traces_are_counted_on_stderr(bayplan: Bayplan) -> None:
    done = bayplan("replay", *["good.json"] * 20)
    assert done.returncode == 0
    assert done.stderr.startswith("replayed 2 of 20 traces\nreplayed 4 of 20 traces\n")


def test_every_file_that_cannot_be_played_is_named_and_nothing_is_printed(bayplan: Bayplan) -> None:
    done = bayplan("replay", "good.json", "none.json", "missing.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "none.json" in done.stderr
    assert "missing.json" in done.stderr
    assert "good.json" not in done.stderr


@pytest.mark.parametrize(
    ("pod", "name"),
    [("light", "bound"), ("large", "alone"), ("huge", "unschedulable"), ("waits", "gated"), ("urgent", "preempting")],
)
def test_a_pods_story_is_told(bayplan: Bayplan, pod: str, name: str, golden: Golden) -> None:
    asked = ("explain", "--trace", "good.json", "--pod", f"default/{pod}")
    told, data = bayplan(*asked), bayplan(*asked, "--output", "json")
    assert (told.returncode, told.stderr) == (data.returncode, data.stderr) == (0, "")
    golden(f"explain-{name}.txt", told.stdout)
    golden(f"explain-{name}.json", data.stdout)


def test_a_story_says_where_kube_scheduler_decided_otherwise(bayplan: Bayplan, golden: Golden) -> None:
    done = bayplan("explain", "--trace", "differs.json", "--pod", "default/large")
    assert done.returncode == 0
    golden("explain-differs.txt", done.stdout)


def test_only_the_best_nodes_are_shown_unless_all_are_asked_for(bayplan: Bayplan) -> None:
    trace = str(TESTS / "traces" / "mixed-112.json.gz")
    some, every = (
        bayplan("explain", "--trace", trace, "--pod", "default/p0002", *more).stdout for more in ([], ["--all"])
    )
    assert "--all shows them" in some
    assert "--all shows them" not in every
    assert len(every.splitlines()) > len(some.splitlines())
    assert len(some.splitlines()) < 40


@pytest.mark.parametrize(
    ("pod", "said"),
    [
        ("default/lihgt", "did you mean default/light?"),
        ("light", "did you mean default/light?"),
        ("elsewhere/huge", "did you mean default/huge?"),
        ("kube-system/etcd", "give it as NAMESPACE/NAME"),
        ("default/there", "pod default/there ran on big before the first step"),
    ],
)
def test_a_pod_that_has_no_story_is_wrong_use_and_the_nearest_is_named(bayplan: Bayplan, pod: str, said: str) -> None:
    done = bayplan("explain", "--trace", "good.json", "--pod", pod)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def offered(folder: Path, *words: str) -> list[str]:
    asking = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1), "_BAYPLAN_COMPLETE": "bash_complete"}
    program = Path(sys.executable).parent / "bayplan"
    done = subprocess.run(
        [program], cwd=folder, capture_output=True, text=True, env={**os.environ, **asking}, check=False
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_completion_offers_the_pods_of_the_trace_and_the_workloads(folder: Path) -> None:
    pods = offered(folder, "bayplan", "explain", "--trace", "good.json", "--pod", "default/h")
    assert pods == ["default/huge"]
    assert offered(folder, "bayplan", "explain", "--trace", "none.json", "--pod", "") == []
    assert offered(folder, "bayplan", "bench", "engine", "--workload", "pre") == [
        "preferred-affinity",
        "preferred-spread",
        "preemption",
    ]


SMALL_BENCH = ("bench", "engine", "--nodes", "20", "--pods", "30")


def engine(folder: Path, *arguments: str) -> Any:
    done = apart(folder, *SMALL_BENCH, *arguments, "--output", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_measurement_has_its_setting_its_figures_and_a_digest(folder: Path) -> None:
    found = engine(folder, "--workload", "mixed", "--classes", "7", "--bound", "40", "--churn", "--seed", "3")
    setting = {"workload": "mixed", "nodes": 20, "pods": 30, "classes": 7, "bound": 40, "churn": True, "seed": 3}
    assert found.items() >= setting.items()
    assert found["placed"] + found["unschedulable"] == 30
    assert all(found[figure] > 0 for figure in ("pods_per_s", "p50_us", "p99_us", "rss_mb"))
    assert found["p50_us"] <= found["p99_us"]


def test_the_same_seed_decides_the_same_and_another_does_not(folder: Path) -> None:
    one, same, other = (engine(folder, "--workload", "mixed", "--seed", seed)["digest"] for seed in ("1", "1", "2"))
    assert one == same != other


def test_several_workloads_are_measured_one_after_the_other(folder: Path) -> None:
    found = engine(folder, "--workload", "basic", "--workload", "preemption", "--workload", "basic")
    assert [one["workload"] for one in found] == ["basic", "preemption"]
    assert found[1]["preemptions"] > 0


def test_all_workloads_are_one_table(folder: Path) -> None:
    done = apart(folder, *SMALL_BENCH, "--workload", "all")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1 + 10
    assert "mixed: 30 pods for 20 nodes" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nodes", "0"),
        ("--nodes", "many"),
        ("--pods", "-1"),
        ("--classes", "0"),
        ("--bound", "-1"),
        ("--nodes", "10", "--bound", "1101"),
        ("--workload", "heavy"),
        ("--seed", "x"),
        ("--repeat", "2"),
    ],
    ids=" ".join,
)
def test_values_that_cannot_be_are_wrong_use(folder: Path, arguments: tuple[str, ...]) -> None:
    done = apart(folder, "bench", "engine", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
