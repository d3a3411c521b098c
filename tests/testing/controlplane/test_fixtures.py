"""The pytest plugin, run by a pytest of its own over control planes that only pretend."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bayplan.testing.controlplane import fixtures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayplan.testing.controlplane import ControlPlaneConfig

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]

CONFTEST = 'pytest_plugins = ["bayplan.testing.controlplane.fixtures"]'


class Pretended:
    """A control plane that prints what is done with it."""

    def __init__(self, config: ControlPlaneConfig) -> None:
        self.logs = Path("/logs/of", "scheduler" if config.scheduler else "default")
        self.namespaces: list[str] = []

    def start(self) -> Pretended:
        print("START", self.logs)
        return self

    def stop(self, *, keep_logs: bool) -> None:
        print("STOP", self.logs, "keep" if keep_logs else "remove")

    def make_namespace(self, name: str) -> None:
        self.namespaces.append(name)


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.Pytester]:
    assets = pytester.mkdir("assets")
    for name in ("etcd", "kube-apiserver"):
        (assets / name).touch(mode=0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr(fixtures, "ControlPlane", Pretended)
    pytester.makeconftest(CONFTEST)
    fixtures._reason_to_skip.cache_clear()
    yield pytester
    fixtures._reason_to_skip.cache_clear()


def outcome(run: pytest.Pytester) -> pytest.RunResult:
    # In this process and without other plugins, or each would take seconds. That the plugin was imported before it was
    # loaded is what pytest would warn of.
    return run.runpytest_inprocess("-p", "no:warnings", "-s", "-ra")


def test_without_programs_everything_is_skipped_in_one_line(
    run: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(run.path))
    run.makepyfile(
        test_one="def test_a(control_plane): ...\ndef test_b(namespace): ...",
        test_two="""
            import pytest
            @pytest.fixture
            def mine(own_control_plane): ...
            def test_c(mine): ...
            def test_d(control_plane_binaries): ...
            def test_e(): ...
        """,
    )
    result = outcome(run)
    result.assert_outcomes(passed=1, skipped=4)
    (line,) = (line for line in result.outlines if line.startswith("SKIPPED"))
    assert "[4]" in line
    assert "lacks etcd and kube-apiserver; point it at" in line


def test_our_own_end_to_end_tests_are_skipped_in_one_line_too(tmp_path: Path) -> None:
    environment = {**os.environ, "BAYPLAN_CACHE": str(tmp_path)}
    environment.pop("KUBEBUILDER_ASSETS", None)
    words = [sys.executable, "-m", "pytest", "-m", "e2e", "-q", "-p", "no:cacheprovider", "tests/e2e"]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("SKIPPED"))
    assert "the control plane is not built" in line


def test_the_session_shares_one_and_a_module_has_its_own(run: pytest.Pytester) -> None:
    body = "def test_a(control_plane): ...\ndef test_b(own_control_plane): ...\ndef test_c(own_control_plane): ..."
    run.makepyfile(test_one=body, test_two=body)
    result = outcome(run)
    result.assert_outcomes(passed=6)
    assert str(result.stdout).count("START") == 3
    assert str(result.stdout).count("STOP /logs/of/default remove") == 3


def test_nothing_is_started_that_nobody_asks_for(run: pytest.Pytester) -> None:
    run.makepyfile("def test_a(control_plane_binaries): assert control_plane_binaries.has('etcd')")
    result = outcome(run)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*START*")


def test_a_module_says_what_its_own_is_made_of(run: pytest.Pytester) -> None:
    run.makepyfile("""
        import pytest
        from bayplan.testing.controlplane import ControlPlaneConfig

        @pytest.fixture(scope="module")
        def control_plane_config():
            return ControlPlaneConfig(scheduler=True)

        def test_a(own_control_plane): ...
    """)
    outcome(run).stdout.fnmatch_lines(["*START /logs/of/scheduler*"])


def test_each_test_gets_a_namespace_of_its_own(run: pytest.Pytester) -> None:
    run.makepyfile("""
        def test_a(namespace): ...
        def test_b(namespace, control_plane):
            assert control_plane.namespaces[-1] == namespace
            assert len(set(control_plane.namespaces)) == 2
    """)
    outcome(run).assert_outcomes(passed=2)


def test_a_failure_keeps_the_logs_of_its_control_plane_and_says_where(run: pytest.Pytester) -> None:
    run.makepyfile("""
        def test_well(control_plane): ...
        def test_ill(namespace): assert not namespace
        def test_own(own_control_plane): ...
    """)
    result = outcome(run)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*- control plane -*", "its logs are kept in /logs/of/default"])
    assert sorted(line[line.index("STOP") :] for line in result.outlines if "STOP" in line) == [
        "STOP /logs/of/default keep",
        "STOP /logs/of/default remove",
    ]


def test_a_fixture_that_fails_after_the_control_plane_counts_as_a_failure(run: pytest.Pytester) -> None:
    run.makepyfile("""
        import pytest
        @pytest.fixture
        def broken(control_plane): raise RuntimeError
        def test_a(broken): ...
    """)
    result = outcome(run)
    result.assert_outcomes(errors=1)
    assert "STOP /logs/of/default keep" in str(result.stdout)
