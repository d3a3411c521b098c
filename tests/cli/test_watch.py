"""`bayplan watch`, with a collection in memory for its server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bayplan.cli import main
from bayplan.client.api import Client
from bayplan.testing.collection import Collection, Reply

if TYPE_CHECKING:
    from pathlib import Path

    from bayplan.client.transport import Request, Response

ALL = ["create", "delete", "get", "list", "watch"]
DISCOVERED = {
    "kind": "APIGroupDiscoveryList",
    "items": [
        {
            "metadata": {},
            "versions": [
                {
                    "version": "v1",
                    "resources": [
                        {"resource": "things", "singularResource": "thing", "scope": "Namespaced", "verbs": ALL},
                        {"resource": "statuses", "singularResource": "status", "verbs": ["get", "list"]},
                    ],
                }
            ],
        }
    ],
}


class Server(Collection):
    async def send(self, request: Request) -> Response:
        if request.path in {"/api", "/apis"}:
            return Reply(200, json.dumps(DISCOVERED).encode())
        return await super().send(request)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Server:
    server = Server()
    config = {
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "namespace": "mine"}}],
        "current-context": "x",
    }
    (tmp_path / "config").write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))

    def connect(access: Any, **options: Any) -> Client:
        return Client(server, namespace=access.namespace, **options)

    monkeypatch.setattr(Client, "connect", connect)
    return server


def watch(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as leaving:
        main(["watch", *arguments])
    printed = capsys.readouterr()
    assert isinstance(leaving.value.code, int)
    return leaving.value.code, printed.out, printed.err


def test_what_is_there_is_printed_a_line_each(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    server.create("a", namespace="mine")
    server.create("b", namespace="mine")
    code, out, err = watch("things", "--once", capsys=capsys)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert [line[1:] for line in lines] == [["added", "mine/a", "101"], ["added", "mine/b", "102"]]
    assert {request.path for request in server.requests} == {"/api/v1/namespaces/mine/things"}


def test_json_is_a_line_a_change(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    server.create("a", namespace="mine")
    code, out, _ = watch("thing", "--once", "-o", "json", capsys=capsys)
    assert code == 0
    (line,) = map(json.loads, out.splitlines())
    assert line.pop("time").endswith("Z")
    assert line == {
        "change": "added", "namespace": "mine", "name": "a", "uid": "uid-1", "resourceVersion": "101", "labels": {},
    }  # fmt: skip


def test_namespaces_and_selectors_are_passed_on(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    watch("things", "--once", "-A", "-l", "a=b", "--field-selector", "metadata.name=d", capsys=capsys)
    watch("things", "--once", "-n", "other", capsys=capsys)
    first, last = server.requests[0], server.requests[-1]
    assert (first.path, last.path) == ("/api/v1/things", "/api/v1/namespaces/other/things")
    assert dict(first.query)["labelSelector"] == "a=b"
    assert dict(first.query)["fieldSelector"] == "metadata.name=d"


def test_a_right_that_is_missing_is_said_at_once(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    server.answers = [Reply.failure(403, "Forbidden", "you may not list things")]
    code, out, err = watch("things", capsys=capsys)
    assert (code, out) == (1, "")
    assert err.startswith("bayplan: you may not list things; ask for the right")


def test_a_resource_that_is_not_there_is_wrong_use(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = watch("thingz", capsys=capsys)
    assert code == 2
    assert err == "bayplan: the server has no resource 'thingz'; did you mean things?\n"


def test_a_resource_that_cannot_be_watched_is_no_promise(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """Componentstatuses, for one."""
    code, out, err = watch("statuses", capsys=capsys)
    assert (code, out) == (1, "")
    assert err == "bayplan: the server offers no watch for statuses; what it offers is get, list\n"
    assert watch("statuses", "--once", capsys=capsys)[0] == 0


def test_who_may_list_and_not_watch_is_told_before_it_is_ready(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers = [None, Reply.failure(403, "Forbidden", "you may not watch things")]
    code, out, err = watch("things", "-l", "a=b", capsys=capsys)
    assert (code, out) == (1, "")
    assert err == "bayplan: you may not watch things; ask for the right, or grant it with a Role and a RoleBinding\n"
    tried = server.requests[-1]
    assert tried.stream
    assert dict(tried.query) == {
        "watch": "true", "resourceVersion": "100", "timeoutSeconds": "1", "labelSelector": "a=b",
    }  # fmt: skip


def test_a_watch_that_fails_for_now_is_left_to_patience(
    server: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers = [None, Reply.failure(429, "TooManyRequests", "not now")]
    monkeypatch.setattr("bayplan.cli.commands.watch.ready", lambda sentence: (_ for _ in ()).throw(KeyboardInterrupt))
    assert watch("things", capsys=capsys)[0] == 130


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-l", "a in ("], "bayplan: 'a in (' is not a label selector: "),
        (["-l", "!!"], "bayplan: '!!' is not a label selector: "),
        (["--field-selector", "x"], "bayplan: 'x' is not a field selector: "),
    ],
)
def test_a_selector_that_nobody_can_mean_is_wrong_use(
    server: Server, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    code, out, err = watch("things", *arguments, capsys=capsys)
    assert (code, out) == (2, "")
    assert err.startswith(problem)
    assert "; write " in err
    assert server.requests == []


def test_a_field_that_the_server_cannot_select_by_is_wrong_use(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers = [Reply.failure(400, "BadRequest", "field label not supported: spec.x")]
    code, _, err = watch("things", "--field-selector", "spec.x=1", capsys=capsys)
    assert code == 2
    problem = "bayplan: things cannot be selected by 'spec.x=1': field label not supported: spec.x"
    assert err == f"{problem}; correct --field-selector: metadata.name always works\n"
