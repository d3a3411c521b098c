"""Plugins that a stranger wrote: found by path or by an entry point, made with arguments of any type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from bayplan.errors import ConfigurationError
from bayplan.profiles import default_configuration, effective, read_configuration

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.profiles import SchedulerConfiguration

    Module = Callable[[str, str], None]
    Read = Callable[[str], SchedulerConfiguration]
    ProblemsOf = Callable[[str], list[str]]

COOL_RACKS = """
    from __future__ import annotations
    from dataclasses import dataclass, field
    from enum import Enum
    from typing import TYPE_CHECKING, Literal

    if TYPE_CHECKING:
        from bayplan.objects.pod import NodeAffinity, TopologySpreadConstraint
        from bayplan.plugins.arguments import ResourceSpec, Seconds

    class Taste(Enum):
        SWEET = "Sweet"
        SOUR = "Sour"

    @dataclass(frozen=True)
    class CoolRacks:
        limit: float
        steps: int = 3
        names: tuple[str, ...] = ("a",)
        strict_mode: bool = False
        patience: Seconds = 5.0
        taste: Taste = Taste.SWEET
        mode: Literal["fast", "slow"] = "fast"
        weights: dict[str, int] = field(default_factory=dict)
        either: int | str | None = None
        resources: tuple[ResourceSpec, ...] = ()
        affinity: NodeAffinity | None = None
        spread: tuple[TopologySpreadConstraint, ...] = ()

        def problems(self):
            if self.limit < 0:
                yield "limit", "is below freezing"

        def filter(self, pod, node): ...
        def score_nodes(self, pod, nodes): ...
"""


def _profile(args: str, name: str) -> str:
    return f"profiles: [{{plugins: {{multiPoint: {{enabled: [{{name: '{name}:CoolRacks', weight: 4}}]}}}}, {args}}}]"


def test_a_path_names_a_plugin_and_yaml_makes_it(module: Module, read: Read) -> None:
    module("made", COOL_RACKS)
    args = (
        "{limit: 70, names: [x, z], strictMode: on, patience: 1m, taste: Sour, mode: slow, weights: {a: 1}, either: b,"
        "resources: [{name: cpu}], affinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 3}]},"
        "spread: [{maxSkew: 2, labelSelector: {matchLabels: {a: b}}}]}"
    )

    configuration = read(_profile(f"pluginConfig: [{{name: 'made:CoolRacks', args: {args}}}]", "made"))

    profile = configuration.profiles[0]
    instance = profile.plugins["CoolRacks"]
    plugin = instance.plugin
    assert (instance.reference, instance.weight) == ("made:CoolRacks", 4)
    assert instance in profile.filter
    assert instance in profile.score
    assert instance not in profile.pre_filter
    assert (plugin.limit, plugin.names, plugin.strict_mode, plugin.patience) == (70.0, ("x", "z"), True, 60.0)
    assert (plugin.taste.value, plugin.mode, plugin.weights, plugin.either) == ("Sour", "slow", {"a": 1}, "b")
    assert plugin.resources[0].weight == 1
    assert plugin.affinity.preferred_during_scheduling_ignored_during_execution[0].weight == 3
    assert plugin.spread[0].label_selector.match_labels == {"a": "b"}


def test_what_was_made_is_printed_and_reads_back(module: Module, read: Read) -> None:
    module("printed", COOL_RACKS)
    config = "pluginConfig: [{name: 'printed:CoolRacks', args: {limit: 70.5, taste: Sour, spread: [{maxSkew: 2}]}}]"
    printed = effective(read(_profile(config, "printed")))

    again = read_configuration(yaml.safe_dump(printed))

    args = next(one["args"] for one in printed["profiles"][0]["pluginConfig"] if one["name"] == "printed:CoolRacks")
    assert args["taste"] == "Sour"
    assert args["patience"] == "5s"
    assert args["spread"] == [{"maxSkew": 2}]
    assert effective(again) == printed


def test_wrong_arguments_are_told_each_at_its_place(module: Module, problems: ProblemsOf) -> None:
    module("wrong", COOL_RACKS)
    args = """\
        limit: cold
            steps: 1.5
            names: x
            strictMode: "yes"
            patience: 5
            taste: Bitter
            mode: 7
            weights: {a: b}
            either: [1]
            resources: [{name: 1}]
            affinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerm: []}}
            spread: [{labelSelector: {matchLabels: [1]}}]
            colour: red
"""
    lines = ",\n".join(line.strip() for line in args.splitlines())
    listed = problems(_profile(f"pluginConfig: [{{name: 'wrong:CoolRacks', args: {{{lines}}}}}]", "wrong"))

    assert [line.partition(".args.")[2] for line in listed] == [
        "limit: the text 'cold' stands where a number is wanted",
        "steps: the number 1.5 stands where an integer is wanted",
        "names: the text 'x' stands where a list is wanted",
        "strictMode: the text 'yes' stands where true or false is wanted",
        "patience: the number 5 stands where a time such as 15s is wanted",
        "taste: the text 'Bitter' stands where one of Sweet, Sour is wanted",
        "mode: the number 7 stands where one of fast, slow is wanted",
        "weights.a: the text 'b' stands where an integer is wanted",
        "either: a list stands where an integer or a text is wanted",
        "resources[0].name: the number 1 stands where a text is wanted",
        (
            "affinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerm: there is no such field; "
            "nodeSelectorTerms is one"
        ),
        "spread[0].labelSelector.matchLabels: a list stands where a mapping is wanted",
        "colour: there is no such field",
    ]


def test_a_plugin_says_itself_what_is_wrong_with_it(module: Module, problems: ProblemsOf) -> None:
    module("says", COOL_RACKS)
    config = "pluginConfig: [{name: 'says:CoolRacks', args: {limit: -1}}]"

    assert problems(_profile(config, "says")) == [
        "line 3: profiles[0].pluginConfig[0].args.limit: is below freezing",
    ]


def test_an_argument_without_a_default_has_to_be_given(module: Module, problems: ProblemsOf) -> None:
    module("needs", COOL_RACKS)

    assert problems(_profile("schedulerName: a", "needs")) == [
        "line 3: profiles[0].pluginConfig[CoolRacks].args.limit: has to be given",
    ]


def test_the_class_name_is_enough_elsewhere_in_the_profile(module: Module, read: Read) -> None:
    module("twice", COOL_RACKS)
    config = "pluginConfig: [{name: CoolRacks, args: {limit: 1}}]"

    assert read(_profile(config, "twice")).profiles[0].plugins["CoolRacks"].plugin.limit == 1.0


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nowhere.at_all:X", "'nowhere.at_all:X' cannot be loaded: ModuleNotFoundError: No module named 'nowhere'"),
        ("json:Missing", "'json:Missing' cannot be loaded: AttributeError: module 'json' has no attribute 'Missing'"),
        ("json:dumps", "'json:dumps' is no plugin: json:dumps is no class"),
        ("json:JSONDecoder", "JSONDecoder has none of the methods of a plugin"),
        ("../json:x", "'../json:x' is not a plugin; name one of kube-scheduler's"),
    ],
)
def test_a_path_that_leads_nowhere_is_told(problems: ProblemsOf, name: str, problem: str) -> None:
    (first, *_) = problems(f"profiles: [{{plugins: {{multiPoint: {{enabled: [{{name: {name!r}}}]}}}}}}]")

    assert first.startswith(f"line 3: profiles[0].plugins.multiPoint.enabled[0].name: {problem}")


def test_a_module_that_breaks_while_it_is_imported_is_told(module: Module, problems: ProblemsOf) -> None:
    module("breaks", "raise RuntimeError('no license')")

    (first, *_) = problems("profiles: [{plugins: {filter: {enabled: [{name: 'breaks:X'}]}}}]")
    assert first.endswith("'breaks:X' cannot be loaded: RuntimeError: no license")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("    a: int = 1\n    def __post_init__(self): raise ValueError('no')", "ValueError: no"),
        ("    a: Nonsense = 1", "the types of P cannot be read: name 'Nonsense' is not defined"),
        ("    a: int = 1\n    def problems(self): return 7", "P.problems() failed: TypeError"),
    ],
)
def test_a_plugin_that_breaks_when_it_is_made_is_told(
    module: Module, problems: ProblemsOf, body: str, problem: str
) -> None:
    name = f"broken{abs(hash(body))}"
    module(
        name,
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass(frozen=True)\n"
        f"class P:\n{body}\n    def filter(self, pod, node): ...\n",
    )
    config = f"pluginConfig: [{{name: P, args: {{a: 2}}}}], plugins: {{filter: {{enabled: [{{name: '{name}:P'}}]}}}}"

    (found,) = problems(f"profiles: [{{{config}}}]")
    assert problem.replace("P.problems", f"{name}:P.problems") in found


def test_an_installed_plugin_is_named_by_its_entry_point(
    module: Module, install: Callable[[str, str], None], read: Read
) -> None:
    module("installed_one", COOL_RACKS.replace("limit: float", "limit: float = 1.0"))
    install("Racks", "installed_one:CoolRacks")

    (profile,) = read("profiles: [{plugins: {score: {enabled: [{name: Racks, weight: 2}]}}}]").profiles

    assert [one.name for one in profile.score][-1] == "Racks"
    assert "Racks" not in [one.name for one in profile.filter]


def test_an_installed_plugin_with_a_name_of_ours_has_to_be_chosen(
    module: Module, install: Callable[[str, str], None], read: Read, problems: ProblemsOf
) -> None:
    module("collides", COOL_RACKS.replace("limit: float", "limit: float = 1.0"))
    install("ImageLocality", "collides:CoolRacks")

    assert problems("") == [
        (
            "line 1: profiles[0].plugins: collides:CoolRacks is installed as ImageLocality too; "
            "disable ImageLocality under multiPoint to use that one"
        ),
    ]
    gone = "disabled: [{name: ImageLocality}]"
    (without,) = read(f"profiles: [{{plugins: {{multiPoint: {{{gone}}}}}}}]").profiles
    assert "ImageLocality" not in without.plugins
    chosen = f"profiles: [{{plugins: {{multiPoint: {{{gone}, enabled: [{{name: ImageLocality}}]}}}}}}]"
    (profile,) = read(chosen).profiles
    assert type(profile.plugins["ImageLocality"].plugin).__name__ == "CoolRacks"


def test_two_plugins_of_one_name_cannot_be_told_apart(module: Module, problems: ProblemsOf) -> None:
    module("one_of_two", "class NodeName:\n    def filter(self, pod, node): ...\n")

    assert problems("profiles: [{plugins: {filter: {enabled: [{name: 'one_of_two:NodeName'}]}}}]") == [
        "line 3: profiles[0].plugins: 'NodeName' and 'one_of_two:NodeName' would both be called NodeName; disable one",
    ]


@dataclass(frozen=True)
class Picky:
    """Handed over as an object."""

    limit: int = 1

    def filter(self, pod: Any, node: Any) -> None: ...


def test_plugins_can_be_handed_over_as_objects() -> None:
    picky = Picky(limit=7)

    (profile,) = default_configuration("mine", plugins=[picky]).profiles

    assert profile.scheduler_name == "mine"
    assert profile.filter[-1].name == "Picky"
    assert profile.filter[-1].plugin is picky


def test_an_object_may_be_handed_over_once() -> None:
    with pytest.raises(ConfigurationError, match="twice"):
        default_configuration(plugins=[Picky(), Picky()])
