#!/usr/bin/env python3
"""Build the control plane that Bayplan is tested against: etcd, Kubernetes and the oracle, at pinned versions.

The sources come from Go's module proxy, checked against go.sum. The programs go into a cache outside this repository,
in a directory named by a digest of all that determines them: what is there already is not built again. Each program
is built under another name and renamed when it is whole, so a build that was cut off leaves nothing half done, and
the next one goes on after the last whole program. The directory is printed on stdout, the progress on stderr.

Needs Python and Go, nothing else; it runs outside any virtual environment.
"""

from __future__ import annotations

import argparse
import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).resolve().parent

#: Builds of other versions that are kept beside the wanted one: branches are switched to and fro.
KEPT_BUILDS = 2

#: Written last into a build's directory; without it some programs may still be missing.
RECEIPT = "build.json"

#: A build without a word for longer than this looks as if it hung.
TICK_SECONDS = 15.0


@dataclass(frozen=True)
class Program:
    """One program: its name, the Go package it is built from, and the directory of the module that pins it."""

    name: str
    package: str
    module: str = "."


#: Those that the most tests wait for come first.
PROGRAMS = (
    Program("etcd", "go.etcd.io/etcd/server/v3", module="etcd"),
    Program("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    Program("bayplan-oracle", "./oracle"),
    Program("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
    Program("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    Program("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
)

#: No C compiler, no path of this machine and no state of this repository may show in what is built.
FLAGS = ("-trimpath", "-mod=readonly", "-buildvcs=false")
ENVIRONMENT = {"CGO_ENABLED": "0", "GO111MODULE": "on", "GOWORK": "off"}

#: What programs for another system are built by; these are to run here.
CROSS_COMPILING = ("GOOS", "GOARCH")

#: What go says when the cause lies outside: the first that is found in its words is told, with its remedy.
KNOWN_CAUSES = (
    (
        "no space left on device",
        "the disk is full",
        "free some space (a first build takes about 4 GB) and run it again",
    ),
    (
        "checksum mismatch",
        "a module is not what go.sum says",
        "distrust the module proxy; `go env GOPROXY` names it",
    ),
    (
        "no such host|dial tcp|i/o timeout|TLS handshake timeout|connection re|network is unreachable|proxyconnect",
        "the Go module proxy could not be reached",
        "check the network and what `go env GOPROXY` says, then run it again: what is done is kept",
    ),
    (
        r"module lookup disabled|40[347] |410 Gone|x509: |not available",
        "the Go module proxy refused a module",
        "point GOPROXY at a proxy that has it, then run it again: what is done is kept",
    ),
    ("permission denied", "go may not write where it must", "look at `go env GOCACHE GOMODCACHE`"),
    (
        "signal: killed",
        "the compiler was killed, as a rule for want of memory",
        "free some, or set GOMAXPROCS=1",
    ),
)


class BuildFailed(Exception):
    """One sentence that ends with a remedy, after whatever go had to say."""


class NoGo(BuildFailed):
    """There is no Go that could build this, so nothing was begun."""


@dataclass(frozen=True)
class Toolchain:
    """The Go that builds, and what of its settings shows in the result."""

    program: str
    settings: dict[str, str]

    @property
    def version(self) -> str:
        """As Go names itself, such as go1.26.0."""
        return self.settings["GOVERSION"]


@dataclass
class Built:
    """A program that is whole, and how long it took unless it was there before."""

    path: Path
    seconds: float | None = None

    def as_json(self) -> dict[str, Any]:
        """For --output json and for the receipt."""
        size = self.path.stat().st_size
        return {"name": self.path.name, "path": str(self.path), "bytes": size, "seconds": self.seconds}


@dataclass
class Words:
    """What a running go writes: names of packages as they are compiled, modules as they come, and the rest."""

    packages: int = 0
    modules: int = 0
    rest: list[str] = field(default_factory=list)

    def hear(self, stream: IO[str]) -> None:
        """Take in everything until the stream ends."""
        for line in map(str.rstrip, stream):
            if line.startswith("go: downloading "):
                self.modules += 1
            elif line and " " not in line:
                self.packages += 1
            elif line:
                self.rest.append(line)

    def progress(self) -> str:
        """How far it is, as far as can be known."""
        done = f"{self.packages} packages compiled" if self.packages else ""
        return f"{self.modules} modules downloaded" if self.modules and not done else done


def say(text: str) -> None:
    """Tell whoever watches; stdout is for the result."""
    print(f"controlplane: {text}", file=sys.stderr, flush=True)


def cache_root() -> Path:
    """Where builds are kept; bayplan.testing.controlplane.binaries looks in the same place."""
    own = os.environ.get("BAYPLAN_CACHE")
    base = Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bayplan"
    # Go is run elsewhere, so a relative path would lead elsewhere.
    return base.absolute() / "controlplane"


def pinned_version(module: str, go_mod: Path) -> str:
    """The version that a go.mod requires of a module."""
    found = re.search(rf"^\s*(?:require\s+)?{re.escape(module)}\s+(v\S+)", go_mod.read_text(), re.MULTILINE)
    if found is None:
        raise BuildFailed(f"{go_mod} requires no {module}; put it back as it was committed")
    return found.group(1)


def kubernetes_version() -> str:
    """The pinned Kubernetes, such as v1.37.1."""
    return pinned_version("k8s.io/kubernetes", HERE / "go.mod")


def linker_flags(kubernetes: str) -> str:
    """What a release of Kubernetes knows of itself, as far as it is true here: the commit is not known."""
    major, minor = kubernetes.removeprefix("v").split(".")[:2]
    facts = {"gitVersion": kubernetes, "gitMajor": major, "gitMinor": minor, "gitTreeState": "archive"}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(
        [
            "-s",
            "-w",
            *(f"-X {package}.{name}={value}" for package in packages for name, value in facts.items()),
        ]
    )


def find_go() -> Toolchain:
    """The Go on PATH, if it is one that go.mod accepts."""
    program = shutil.which("go")
    if program is None:
        raise NoGo("Go is not on PATH; install it, or set KUBEBUILDER_ASSETS to a directory with the programs")
    wanted = re.search(r"^go (\S+)", (HERE / "go.mod").read_text(), re.MULTILINE)
    assert wanted is not None
    names = ("GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFLAGS", "GOPROXY")
    # Asked inside the module: a Go that is older but may fetch the right one does so here.
    asked = subprocess.run(
        [program, "env", "-json", *names],
        cwd=HERE,
        env=go_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode != 0:
        raise NoGo(f"this Go cannot build it ({last_line(asked.stderr)}); install Go {wanted.group(1)} or newer")
    settings = json.loads(asked.stdout)
    if numbers(settings["GOVERSION"]) < numbers(wanted.group(1)):
        have = settings["GOVERSION"].removeprefix("go")
        raise NoGo(f"Go {have} is too old for Kubernetes {kubernetes_version()}; install Go {wanted.group(1)} or newer")
    return Toolchain(program, settings)


def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version, to compare by; a development build, which has none, is newest."""
    found = re.match(r"(?:go)?(\d+(?:\.\d+)*)", version)
    return tuple(int(part) for part in found.group(1).split(".")) if found else (sys.maxsize,)


def last_line(text: str) -> str:
    """The last line, where Go says why."""
    return text.strip().splitlines()[-1].removeprefix("go: ") if text.strip() else "it does not say why"


def go_environment() -> dict[str, str]:
    """Ours, without what would make programs that cannot run here."""
    kept = {name: value for name, value in os.environ.items() if name not in CROSS_COMPILING}
    return kept | ENVIRONMENT


def build_key(toolchain: Toolchain) -> str:
    """A name for the build that changes with everything that its programs are made from."""
    settings = {name: value for name, value in toolchain.settings.items() if name != "GOPROXY"}
    recipe = [settings, FLAGS, ENVIRONMENT, linker_flags(kubernetes_version()), [vars(p) for p in PROGRAMS]]
    digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode())
    for path in sorted([*HERE.glob("**/go.mod"), *HERE.glob("**/go.sum"), *HERE.glob("**/*.go")]):
        digest.update(f"\0{path.relative_to(HERE)}\0".encode() + path.read_bytes())
    system = f"{toolchain.settings['GOOS']}-{toolchain.settings['GOARCH']}"
    return f"kubernetes-{kubernetes_version()}-{system}-{digest.hexdigest()[:12]}"


@contextmanager
def sole_builder(root: Path) -> Iterator[None]:
    """Hold the cache's lock: one build at a time. It goes with the process that holds it, however that ends."""
    with (root / ".lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            say(f"waiting for another build into {root}: {file.read().strip() or 'it did not say who it is'}")
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(f"process {os.getpid()}, since {time.strftime('%H:%M:%S')}, of {HERE}\n")
        file.flush()
        yield


def run_go(toolchain: Toolchain, label: str, arguments: Sequence[str], directory: Path) -> Words:
    """Run go to its end with a sign of life now and then; BuildFailed shows what it said."""
    words = Words()
    command = [toolchain.program, *arguments]
    began = time.monotonic()
    with subprocess.Popen(
        command,
        cwd=directory,
        env=go_environment(),
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as go:
        try:
            assert go.stderr is not None
            ear = threading.Thread(target=words.hear, args=(go.stderr,), daemon=True)
            ear.start()
            while not ended(go):
                say(", ".join(filter(None, [f"  {label}: {time.monotonic() - began:.0f} s", words.progress()])))
        except BaseException:
            go.terminate()
            raise
        ear.join()
    if go.returncode != 0:
        raise explain(label, words.rest, toolchain)
    return words


def ended(process: subprocess.Popen[str]) -> bool:
    """Wait for one tick at the longest."""
    try:
        process.wait(TICK_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def explain(label: str, said: Sequence[str], toolchain: Toolchain) -> BuildFailed:
    """What go said, then what that means where it is known."""
    shown = "".join(f"{line}\n" for line in said[-20:])
    for pattern, cause, remedy in KNOWN_CAUSES:
        if re.search(pattern, "\n".join(said)):
            proxy = f" (GOPROXY={toolchain.settings['GOPROXY']})" if "proxy" in cause else ""
            return BuildFailed(f"{shown}{label} could not be built: {cause}{proxy}; {remedy}")
    return BuildFailed(f"{shown}{label} could not be built; what go says above is all that is known")


def download(toolchain: Toolchain, missing: Sequence[Program]) -> None:
    """Fetch every module that the missing programs need, first: what a network refuses shows at once."""
    for module in dict.fromkeys(program.module for program in missing):
        packages = [program.package for program in missing if program.module == module]
        label = "the sources of " + ", ".join(program.name for program in missing if program.module == module)
        began = time.monotonic()
        words = run_go(toolchain, label, ["list", "-mod=readonly", "-deps", *packages], HERE / module)
        if words.modules:
            say(f"{label}: {words.modules} modules downloaded in {time.monotonic() - began:.0f} s")


def build(toolchain: Toolchain, program: Program, directory: Path) -> Built:
    """Build one program beside its place, then put it there in one step."""
    place, unfinished = directory / program.name, directory / f".{program.name}.{os.getpid()}"
    say(f"{program.name}: building …")
    began = time.monotonic()
    flags = [*FLAGS, "-v", "-ldflags", linker_flags(kubernetes_version()), "-o", str(unfinished)]
    run_go(toolchain, program.name, ["build", *flags, program.package], HERE / program.module)
    unfinished.replace(place)
    built = Built(place, round(time.monotonic() - began, 1))
    say(f"{program.name}: {built.seconds:.0f} s, {place.stat().st_size / 1e6:.0f} MB")
    return built


def build_missing(toolchain: Toolchain, directory: Path) -> list[Built]:
    """Build what is not there yet, and say so in the receipt once everything is."""
    directory.mkdir(exist_ok=True)
    for unfinished in directory.glob(".*"):
        unfinished.unlink()
    missing = [program for program in PROGRAMS if not (directory / program.name).exists()]
    if missing:
        say(f"Kubernetes {kubernetes_version()} with {toolchain.version}, into {directory}")
        download(toolchain, missing)
    built = [
        build(toolchain, program, directory) if program in missing else Built(directory / program.name)
        for program in PROGRAMS
    ]
    if missing or not (directory / RECEIPT).exists():
        write_receipt(toolchain, directory, built)
    # The newest is the one that tests take, and this is the one that was asked for last.
    os.utime(directory)
    return built


def write_receipt(toolchain: Toolchain, directory: Path, built: Sequence[Built]) -> None:
    """What was built from what, and how long each took when it was."""
    facts = summary(toolchain, built)
    earlier = seconds_told(directory / RECEIPT)
    for program in facts["programs"]:
        if program["seconds"] is None:
            program["seconds"] = earlier.get(program["name"])
    unfinished = directory / f".{RECEIPT}"
    unfinished.write_text(json.dumps(facts, indent=2) + "\n")
    unfinished.replace(directory / RECEIPT)


def seconds_told(receipt: Path) -> dict[str, float | None]:
    """What an earlier receipt says, if there is one that can be read."""
    try:
        return {program["name"]: program["seconds"] for program in json.loads(receipt.read_text())["programs"]}
    except (OSError, ValueError, KeyError):
        return {}


def summary(toolchain: Toolchain, built: Sequence[Built]) -> dict[str, Any]:
    """The versions and the programs."""
    versions = {
        "kubernetes": kubernetes_version(),
        "etcd": pinned_version("go.etcd.io/etcd/server/v3", HERE / "etcd" / "go.mod"),
        "go": toolchain.version,
    }
    return {**versions, "programs": [program.as_json() for program in built]}


def remove_old(root: Path, wanted: Path) -> None:
    """Leave the wanted build and the newest of the others."""
    others = [path for path in root.iterdir() if path.is_dir() and path != wanted]
    for path in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT_BUILDS:]:
        say(f"removing an old build, {path.name}")
        shutil.rmtree(path)


def run() -> dict[str, Any]:
    """Bring the cache to what this directory pins; gives what is there then."""
    toolchain = find_go()
    root = cache_root()
    directory = root / build_key(toolchain)
    began = time.monotonic()
    try:
        root.mkdir(parents=True, exist_ok=True)
        with sole_builder(root):
            built = build_missing(toolchain, directory)
            remove_old(root, directory)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise BuildFailed(f"{root}: the disk is full; free some space and run it again") from error
        raise BuildFailed(f"{root} cannot be used: {error}; set BAYPLAN_CACHE to a directory of yours") from error
    if any(program.seconds is not None for program in built):
        say(f"all {len(built)} programs are there after {time.monotonic() - began:.0f} s")
    return {"directory": str(directory), **summary(toolchain, built)}


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="build.py",
        description="Build etcd, Kubernetes and the oracle for Bayplan's end-to-end tests, at pinned versions.",
        epilog="Needs Go. The programs go below $BAYPLAN_CACHE, else $XDG_CACHE_HOME/bayplan, else ~/.cache/bayplan. "
        "The directory is printed on stdout. Exits with 0, 1 when the build failed, or 2 on wrong use.",
    )
    parser.add_argument(
        "--if-possible",
        action="store_true",
        help="build nothing and exit with 0 when there is no Go, or when KUBEBUILDER_ASSETS names other programs",
    )
    parser.add_argument("--output", choices=("text", "json"), default="text", help="what to print on stdout")
    return parser.parse_args(given)


def reason_to_skip() -> str | None:
    """Why tests will not look at the cache, if so."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    return f"nothing is built, because KUBEBUILDER_ASSETS is {assets}" if assets else None


def main(given: Sequence[str] | None = None) -> int:
    """Build, or say in one sentence why not."""
    options = arguments(given)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        skipped = reason_to_skip() if options.if_possible else None
        result = {"directory": None, "skipped": skipped} if skipped else run()
    except NoGo as error:
        if not options.if_possible:
            say(str(error))
            return 1
        skipped = f"nothing is built: {error}"
        result = {"directory": None, "skipped": skipped}
    except BuildFailed as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("interrupted; what is done is kept")
        return 130
    if skipped:
        say(skipped)
    if options.output == "json":
        print(json.dumps(result, indent=2))
    elif not skipped:
        print(result["directory"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
