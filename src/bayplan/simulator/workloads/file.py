"""Scenarios written by hand: your own objects, and the pods to place on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayplan.errors import ConfigurationError, UsageError
from bayplan.simulator.workloads.scenario import Create, Delete, Scenario, Update

if TYPE_CHECKING:
    from pathlib import Path

    from bayplan.simulator.workloads.scenario import Action, Object

_PARTS = {"objects", "config", "steps"}
_STEPS = {"create", "update", "delete"}


def read_scenario(path: Path) -> Scenario:
    """Read YAML or JSON with `objects` and `steps`, each step a `create`, an `update` or a `delete`.

    A step is what a trace has for it, without the outcome; so a trace that was unpacked is a scenario too.
    """
    import yaml

    try:
        content = yaml.safe_load(path.read_text())
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UsageError(
            f"{path} is no scenario: {error}", remedy="give a YAML or JSON file that can be read"
        ) from error
    problems = _problems(content)
    if problems:
        raise ConfigurationError(str(path), problems)
    actions = [_action(step) for step in content.get("steps", [])]
    return Scenario(path.stem, None, content.get("objects", []), actions, content.get("config") or {})


def parse_reference(text: str) -> tuple[str, str, str]:
    """Kind, namespace and name of what a `delete` names.

    `namespace/name` is a pod. A kind in front makes it anything else: `Node/name` and `PersistentVolumeClaim/namespace/
    name`. Kinds begin with a capital letter and namespaces never do, so the two cannot be mixed up.
    """
    first, *rest = text.split("/")
    if not first[:1].isupper():
        first, rest = "Pod", [first, *rest]
    if (first == "Pod" and len(rest) != 2) or len(rest) not in (1, 2) or not all(rest):
        raise UsageError(f"a delete names {text!r}", remedy="write namespace/name, Kind/name or Kind/namespace/name")
    return first, rest[0] if len(rest) == 2 else "", rest[-1]


def write_reference(kind: str, namespace: str, name: str) -> str:
    """The text that `parse_reference` reads."""
    parts = (namespace, name) if kind == "Pod" else (kind, namespace, name)
    return "/".join(part for part in parts if part)


def _action(step: Object) -> Action:
    if "create" in step:
        return Create(step["create"], keep_gated=bool(step["create"]["spec"].get("schedulingGates")))
    if "update" in step:
        return Update(step["update"])
    return Delete(*parse_reference(step["delete"]))


def _problems(content: Any) -> list[str]:
    if not isinstance(content, dict):
        return ["the file is not a mapping with `objects` and `steps`"]
    problems = [f"{part}: there is no such part" for part in sorted(content.keys() - _PARTS - {"meta"})]
    for number, each in enumerate(content.get("objects") or []):
        problems += _object_problems(each, f"objects[{number}]")
    for number, step in enumerate(content.get("steps") or []):
        problems += _step_problems(step, f"steps[{number}]")
    return problems


def _step_problems(step: Any, where: str) -> list[str]:
    named = sorted(_STEPS & step.keys()) if isinstance(step, dict) else []
    if len(named) != 1:
        return [f"{where}: it needs one of create, update and delete"]
    if named == ["delete"]:
        return [] if isinstance(step["delete"], str) else [f"{where}.delete: it must be text such as namespace/name"]
    problems = _object_problems(step[named[0]], f"{where}.{named[0]}")
    if not problems and named == ["create"] and step["create"]["kind"] != "Pod":
        return [f"{where}.create: only pods are created; write an update for anything else"]
    return problems


def _object_problems(content: Any, where: str) -> list[str]:
    if not isinstance(content, dict):
        return [f"{where}: it must be an object"]
    missing = [name for name in ("apiVersion", "kind") if not isinstance(content.get(name), str)]
    metadata = content.get("metadata")
    if not isinstance(metadata, dict) or not metadata.get("name"):
        missing.append("metadata.name")
    if content.get("kind") == "Pod" and not isinstance(content.get("spec"), dict):
        missing.append("spec")
    return [f"{where}: {name} is missing" for name in missing]
