"""tools/controlplane/build.py, with a Go that only pretends."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[3] / "tools" / "controlplane" / "build.py"

NAMES = ["etcd", "kube-apiserver", "bayplan-oracle", "kubectl", "kube-controller-manager", "kube-scheduler"]

#: Notes what it is asked for; a file `fail-NAME` beside it holds what it says when it fails to build NAME.
FAKE_GO = r"""#!/bin/sh
here=$(dirname "$0")
if [ "$1" = env ]; then
    [ ! -f "$here/fail-env" ] || { cat "$here/fail-env" >&2; exit 1; }
    echo "{\"GOVERSION\": \"$(cat "$here/version")\", \"GOOS\": \"linux\", \"GOARCH\": \"amd64\",
        \"GOFLAGS\": \"$FAKE_GOFLAGS\", \"GOPROXY\": \"https://proxy.invalid\"}"
    exit
fi
if [ "$1" = list ]; then
    echo "go: downloading example.com/module v1.0.0" >&2
    exit
fi
while [ "$1" != -o ]; do shift; done
name=$(basename "$2"); name=${name#.}; name=${name%.*}
echo "$name" >> "$here/asked"
[ ! -f "$here/fail-$name" ] || { cat "$here/fail-$name" >&2; echo half > "$2"; exit 1; }
[ ! -f "$here/hang-$name" ] || { echo half > "$2"; kill -TERM $PPID; exec sleep 60; }
echo "made of $FAKE_GOFLAGS $GOOS" > "$2"
chmod +x "$2"
"""


@dataclass(frozen=True)
class World:
    """A cache and a PATH of their own."""

    tools: Path
    cache: Path

    def run(self, *arguments: str, go: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.tools}:/usr/bin:/bin" if go else str(self.cache.parent / "empty")
        return subprocess.run(
            [sys.executable, str(SCRIPT), *arguments],
            env={"PATH": path, "BAYPLAN_CACHE": str(self.cache), "HOME": str(self.cache), **environment},
            capture_output=True,
            text=True,
            timeout=60,
            cwd=self.cache.parent,
        )

    def build(self, **environment: str) -> Path:
        done = self.run(go=True, **environment)
        assert done.returncode == 0, done.stderr
        return Path(done.stdout.strip())

    def asked(self) -> list[str]:
        """What Go was asked to build since the last question."""
        note = self.tools / "asked"
        names = note.read_text().split() if note.exists() else []
        note.unlink(missing_ok=True)
        return names


@pytest.fixture
def world(tmp_path: Path) -> World:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "go").write_text(FAKE_GO)
    (tools / "go").chmod(0o755)
    (tools / "version").write_text("go99.0")
    return World(tools, tmp_path / "cache")


@pytest.fixture(scope="module")
def build() -> Any:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("controlplane_build", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its dataclasses look their own module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_it_builds_everything_and_prints_where(world: World) -> None:
    directory = world.build()
    assert world.asked() == NAMES
    assert directory.parent == world.cache / "controlplane"
    assert sorted(path.name for path in directory.iterdir()) == sorted([*NAMES, "build.json"])


def test_a_relative_cache_is_relative_to_where_the_builder_was_called(world: World) -> None:
    assert world.build(BAYPLAN_CACHE="elsewhere").parent == world.cache.parent / "elsewhere" / "controlplane"


def test_a_second_run_builds_nothing_and_says_nothing(world: World) -> None:
    directory = world.build()
    world.asked()
    again = world.run()
    assert (again.stdout.strip(), again.stderr) == (str(directory), "")
    assert world.asked() == []


def test_only_what_is_missing_is_built(world: World) -> None:
    directory = world.build()
    world.asked()
    (directory / "kubectl").unlink()
    assert world.build() == directory
    assert world.asked() == ["kubectl"]


def test_a_receipt_remembers_how_long_each_program_took_when_it_was_built(world: World) -> None:
    directory = world.build()
    (directory / "kubectl").unlink()
    world.build()
    receipt = json.loads((directory / "build.json").read_text())
    assert [program["name"] for program in receipt["programs"] if program["seconds"] is not None] == NAMES


def test_a_build_that_failed_goes_on_after_the_last_whole_program(world: World) -> None:
    (world.tools / "fail-kubectl").write_text("write /x: no space left on device\n")
    failed = world.run()
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1].startswith("kubectl could not be built: the disk is full; free some space")
    (directory,) = (path for path in (world.cache / "controlplane").iterdir() if path.is_dir())
    assert not (directory / "kubectl").exists()
    assert not (directory / "build.json").exists()
    (world.tools / "fail-kubectl").unlink()
    world.asked()
    assert world.build() == directory
    assert world.asked() == NAMES[NAMES.index("kubectl") :]
    assert not list(directory.glob(".*"))


def test_a_build_that_was_ended_leaves_nothing_half_done(world: World) -> None:
    (world.tools / "hang-kubectl").touch()
    assert world.run().returncode == 128 + signal.SIGTERM
    (world.tools / "hang-kubectl").unlink()
    world.asked()
    directory = world.build()
    assert world.asked()[0] == "kubectl"
    assert "half" not in {path.read_text().strip() for path in directory.iterdir()}


def test_what_would_change_the_programs_changes_the_directory(world: World) -> None:
    first = world.build()
    assert world.build(FAKE_GOFLAGS="-race") != first
    (world.tools / "version").write_text("go99.1")
    assert world.build() != first


def test_programs_are_for_this_machine_whatever_is_set(world: World) -> None:
    directory = world.build(GOOS="plan9")
    assert "plan9" not in (directory / "etcd").read_text()


def test_old_builds_are_removed_but_for_the_newest(world: World) -> None:
    made = []
    for number in range(4):
        made.append(world.build(FAKE_GOFLAGS=f"-{number}"))
        os.utime(made[-1], (number, number))
    # The wanted one, and two others.
    assert [path.exists() for path in made] == [False, True, True, True]


def test_json_says_what_is_where(world: World) -> None:
    told = json.loads(world.run("--output", "json").stdout)
    assert [program["name"] for program in told["programs"]] == NAMES
    assert all(Path(program["path"]).parent == Path(told["directory"]) for program in told["programs"])
    assert told["kubernetes"] == "v1.37.1"
    assert re.fullmatch(r"v3\.6\.\d+", told["etcd"])


def test_without_go_it_fails_in_one_line_with_a_remedy(world: World) -> None:
    done = world.run(go=False)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert "Go is not on PATH; install it, or set KUBEBUILDER_ASSETS" in line


def test_without_go_if_possible_says_one_line_and_succeeds(world: World) -> None:
    done = world.run("--if-possible", go=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert len(done.stderr.splitlines()) == 1
    assert json.loads(world.run("--if-possible", "--output", "json", go=False).stdout)["directory"] is None


def test_if_possible_leaves_the_field_to_assets(world: World) -> None:
    done = world.run("--if-possible", KUBEBUILDER_ASSETS="/assets")
    assert (done.returncode, world.asked()) == (0, [])
    assert "nothing is built, because KUBEBUILDER_ASSETS is /assets" in done.stderr


def test_a_go_that_is_too_old_is_told_which_is_needed(world: World) -> None:
    (world.tools / "version").write_text("go1.20.1")
    assert re.search(r"Go 1\.20\.1 is too old .* install Go 1\.\d+", world.run().stderr)
    (world.tools / "fail-env").write_text("go: go.mod requires go >= 1.26.0 (running go 1.20.1)\n")
    assert "this Go cannot build it (go.mod requires go >= 1.26.0" in world.run().stderr


def test_wrong_use_is_2(world: World) -> None:
    assert world.run("--no-such").returncode == 2


def test_a_second_builder_waits_and_says_for_whom(world: World) -> None:
    world.build()
    lock = world.cache / "controlplane" / ".lock"
    with lock.open("a+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        command = [sys.executable, str(SCRIPT)]
        environment = {"PATH": f"{world.tools}:/usr/bin:/bin", "BAYPLAN_CACHE": str(world.cache)}
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as other:
            assert other.stderr is not None
            assert re.search(r"waiting for another build into .*: process \d+, since", other.stderr.readline())
            fcntl.flock(held, fcntl.LOCK_UN)
            assert other.wait(60) == 0


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("dial tcp: lookup proxy.invalid: no such host", r"could not be reached \(GOPROXY=https://p\); check the net"),
        ("reading https://p/x.zip: 404 Not Found", r"refused a module \(GOPROXY=https://p\); point GOPROXY at"),
        ("verifying x: checksum mismatch", "a module is not what go.sum says; distrust"),
        ("compile: signal: killed", "for want of memory; free some, or set GOMAXPROCS=1"),
        ("mkdir /x: permission denied", "go may not write where it must; look at"),
        ("x.go:1:1: syntax error", "what go says above is all that is known"),
    ],
)
def test_known_causes_are_explained_after_gos_own_words(build: Any, said: str, told: str) -> None:
    toolchain = build.Toolchain("go", {"GOPROXY": "https://p"})
    words = str(build.explain("etcd", ["noise", said], toolchain))
    assert words.startswith(f"noise\n{said}\netcd could not be built")
    assert re.search(told, words)


def test_progress_counts_modules_then_packages_and_keeps_the_rest(build: Any) -> None:
    words = build.Words()
    words.hear(["go: downloading example.com/a v1.0.0\n"])
    assert words.progress() == "1 modules downloaded"
    words.hear(["example.com/a/b\n", "\n", "example.com/a/c\n", "# something is wrong\n"])
    assert words.progress() == "2 packages compiled"
    assert words.rest == ["# something is wrong"]


def test_versions_are_compared_by_number(build: Any) -> None:
    assert build.numbers("go1.9.7") < build.numbers("1.26.0") < build.numbers("go1.100")
    assert build.numbers("devel +abc") > build.numbers("go1.26")


def test_a_module_that_is_not_pinned_is_told(build: Any, tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module x\n\nrequire example.com/a v1.2.3\n")
    assert build.pinned_version("example.com/a", tmp_path / "go.mod") == "v1.2.3"
    with pytest.raises(build.BuildFailed, match=r"requires no example\.com/b"):
        build.pinned_version("example.com/b", tmp_path / "go.mod")


def test_the_programs_know_their_version(build: Any) -> None:
    flags = build.linker_flags("v1.37.1")
    assert "-X k8s.io/component-base/version.gitVersion=v1.37.1" in flags
    assert "-X k8s.io/component-base/version.gitMinor=37" in flags
