"""Which files count, and what they say together."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bayplan.client.credentials.kubeconfig import read_kubeconfig
from bayplan.errors import CredentialsError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

#: Names collide often, so that the files quarrel.
entries = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["one", "two", "three"]), max_size=3)
files = st.lists(st.tuples(st.sampled_from(["", "a", "b"]), entries) | st.none(), max_size=4)


@given(files)
def test_of_entries_with_one_name_the_first_counts_whole(contents: list[tuple[str, dict[str, str]] | None]) -> None:
    """None stands for a file that is not there; each entry has one field, named after its content."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, str(index)) for index in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            if content is not None:
                clusters = [{"name": name, "cluster": {word: word}} for name, word in content[1].items()]
                path.write_text(yaml.safe_dump({"current-context": content[0], "clusters": clusters}))
        read = read_kubeconfig(None, {"KUBECONFIG": os.pathsep.join(map(str, paths))})
    expected: dict[str, str] = {}
    present = [content for content in contents if content is not None]
    for _, clusters_ in present:
        expected = {**clusters_, **expected}
    assert {name: place.plain() for name, place in read.clusters.items()} == {n: {w: w} for n, w in expected.items()}
    assert read.current_context == next((current for current, _ in present if current), "")
    assert len(read.files) == len(present)
    assert len(read.missing) == len(contents) - len(present)


def test_a_file_named_outright_is_the_only_one(write: Callable[..., Path]) -> None:
    named, other = write(name="named"), write(name="other", **{"current-context": "there"})
    read = read_kubeconfig(named, {"KUBECONFIG": str(other)})
    assert (read.files, read.current_context) == ((named,), "here")


def test_a_file_named_outright_must_exist(tmp_path: Path) -> None:
    with pytest.raises(CredentialsError, match=r"nowhere does not exist; name another file"):
        read_kubeconfig(tmp_path / "nowhere", {})


def test_the_file_in_the_home_directory_counts_when_the_variable_is_unset_or_empty(write: Callable[..., Path]) -> None:
    file = write(name=".kube/config")
    for environ in ({}, {"KUBECONFIG": ""}):
        assert read_kubeconfig(None, {"HOME": str(file.parent.parent), **environ}).files == (file,)


def test_the_variable_keeps_the_home_directory_out(write: Callable[..., Path], tmp_path: Path) -> None:
    write(name=".kube/config")
    read = read_kubeconfig(None, {"HOME": str(tmp_path), "KUBECONFIG": str(tmp_path / "nowhere")})
    assert (read.files, read.missing) == ((), (tmp_path / "nowhere",))


def test_a_file_listed_twice_is_read_once_and_empty_names_are_passed_over(write: Callable[..., Path]) -> None:
    file = write()
    assert read_kubeconfig(None, {"KUBECONFIG": f"{file}::{file}:"}).files == (file,)


def test_two_entries_with_one_name_in_one_file_are_refused(write: Callable[..., Path]) -> None:
    twice = [{"name": "sea", "cluster": {}}, {"name": "sea", "cluster": {}}]
    with pytest.raises(CredentialsError, match="cluster 'sea' is defined twice"):
        read_kubeconfig(write(clusters=twice), {})


def test_a_manifest_is_not_taken_for_a_kubeconfig(write: Callable[..., Path]) -> None:
    with pytest.raises(UsageError, match="this is apps/v1 Deployment, not a kubeconfig; name a file of kind Config"):
        read_kubeconfig(write(kind="Deployment", apiVersion="apps/v1"), {})


@pytest.mark.parametrize("text", ["[]", "- kind: Config\n", "some text\n", "7\n"])
def test_what_is_no_mapping_is_not_taken_for_a_kubeconfig(tmp_path: Path, text: str) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(UsageError, match="config, line 1: this is no mapping, and so no kubeconfig"):
        read_kubeconfig(tmp_path / "config", {})


def test_a_broken_entry_that_nobody_asks_for_does_no_harm(write: Callable[..., Path]) -> None:
    users = [{"name": "ann", "user": {}}, {"name": "bob", "user": {"token": 1, "exec": "nonsense"}}]
    assert set(read_kubeconfig(write(users=users), {}).users) == {"ann", "bob"}
