"""Reading a whole file: what comes of it, and everything that is wrong with it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bayplan.errors import ConfigurationError
from bayplan.plugins.noderesourcesfit import NodeResourcesFit
from bayplan.profiles import default_configuration, effective, read_configuration

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.profiles import Profile, SchedulerConfiguration

    Read = Callable[[str], SchedulerConfiguration]
    ProblemsOf = Callable[[str], list[str]]


def _named(profile: Profile, point: str) -> list[str]:
    return [one.name for one in getattr(profile, point)]


def _weights(profile: Profile) -> dict[str, int]:
    return {one.name: one.weight for one in profile.score}


def test_without_a_file_there_is_the_default_profile() -> None:
    (profile,) = default_configuration().profiles

    assert profile.scheduler_name == "default-scheduler"
    assert profile.percentage_of_nodes_to_score is None
    assert _named(profile, "queue_sort") == ["PrioritySort"]
    assert _named(profile, "bind") == ["DefaultBinder"]
    assert _named(profile, "filter")[:3] == ["NodeName", "NodeUnschedulable", "TaintToleration"]
    assert _weights(profile)["TaintToleration"] == 3
    assert _weights(profile)["PodTopologySpread"] == 2


def test_an_empty_configuration_is_the_default(read: Read) -> None:
    assert effective(read("")) == effective(default_configuration())


def test_json_is_read_as_well_tabs_included() -> None:
    text = '{\n\t"apiVersion": "kubescheduler.config.k8s.io/v1",\n\t"kind": "KubeSchedulerConfiguration"\n}'

    assert effective(read_configuration(text)) == effective(default_configuration())


def test_bytes_are_read_as_well() -> None:
    text = "\ufeffapiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

    assert read_configuration(text.encode()).profiles


def test_all_problems_are_listed_at_once_each_with_its_line_and_path(problems: ProblemsOf) -> None:
    assert problems(
        """\
        paralelism: 3
        percentageOfNodesToScore: 101
        profiles:
        - schedulerName: 5
          plugins:
            score:
              enabled:
              - name: NodeResourceFit
              - name: NodeName
          pluginConfig:
          - name: NodeResourcesFit
            args:
              scoringStrategy:
                type: Tightest
                resources:
                - name: cpu
                  weight: heavy
                - name: memory
                  weight: 101
          - name: InterPodAffinity
            args: {hardPodAffinityWeight: 101, colour: red}
        leaderElection:
          leaseDuration: 15
        """
    ) == [
        "line 3: paralelism: there is no such field; parallelism is one",
        "line 4: percentageOfNodesToScore: 101 is not from 0 to 100",
        "line 6: profiles[0].schedulerName: the number 5 stands where a text is wanted",
        (
            "line 10: profiles[0].plugins.score.enabled[0].name: "
            "'NodeResourceFit' is not a plugin; NodeResourcesFit is one"
        ),
        "line 11: profiles[0].plugins.score.enabled[1].name: NodeName has nothing to say at score",
        (
            "line 16: profiles[0].pluginConfig[0].args.scoringStrategy.type: "
            "'Tightest' is none of LeastAllocated, MostAllocated, RequestedToCapacityRatio"
        ),
        (
            "line 19: profiles[0].pluginConfig[0].args.scoringStrategy.resources[0].weight: "
            "the text 'heavy' stands where an integer is wanted"
        ),
        "line 21: profiles[0].pluginConfig[0].args.scoringStrategy.resources[1].weight: 101 is not from 1 to 100",
        "line 23: profiles[0].pluginConfig[1].args.colour: there is no such field",
        "line 23: profiles[0].pluginConfig[1].args.hardPodAffinityWeight: 101 is not from 0 to 100",
        "line 25: leaderElection.leaseDuration: the number 15 stands where a time such as 15s is wanted",
    ]


def test_a_long_list_of_problems_is_cut(problems: ProblemsOf) -> None:
    listed = problems("".join(f"x{number}: 1\n" for number in range(1_000)))

    assert len(listed) == 101
    assert listed[-1] == "and 900 more"


def test_the_message_names_the_file_and_counts() -> None:
    with pytest.raises(ConfigurationError, match=r"^scheduler\.yaml has 2 problems:\n  line 1: apiVersion: has to be"):
        read_configuration("{}", "scheduler.yaml")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("apiVersion: v1\nkind: KubeSchedulerConfiguration\n", "line 1: apiVersion: 'v1' is not kubescheduler"),
        ("kind: Pod\napiVersion: kubescheduler.config.k8s.io/v1\n", "line 1: kind: 'Pod' is not KubeSchedulerConfig"),
        ("", "line 1: the file is empty"),
        ("[]", "line 1: a list stands where a mapping is wanted"),
    ],
)
def test_what_is_no_configuration_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        read_configuration(text)

    assert raised.value.problems[0].startswith(problem)


def test_several_profiles_need_names_and_different_ones(problems: ProblemsOf) -> None:
    assert problems("profiles: [{}, {schedulerName: a}, {schedulerName: a}]") == [
        "line 3: profiles[0].schedulerName: has to be given",
        "line 3: profiles[2].schedulerName: 'a' is the name of profiles[1] already",
    ]


def test_several_profiles_sort_the_queue_alike(problems: ProblemsOf) -> None:
    assert problems(
        """\
        profiles:
        - schedulerName: a
        - schedulerName: b
          plugins: {queueSort: {enabled: [{name: PrioritySort}]}}
        """
    ) == ["line 6: profiles[1].plugins.queueSort: is not the same as in profiles[0]"]


def test_a_profile_sorts_and_binds(problems: ProblemsOf) -> None:
    assert problems(
        """\
        profiles:
        - plugins: {multiPoint: {disabled: [{name: PrioritySort}]}, bind: {disabled: [{name: '*'}]}}
        """
    ) == [
        "line 4: profiles[0].plugins.queueSort: one plugin has to sort the queue; here are none",
        "line 4: profiles[0].plugins.bind: one plugin at least has to bind",
    ]


def test_a_profile_is_found_by_its_scheduler_name(read: Read) -> None:
    configuration = read("profiles: [{schedulerName: a}, {schedulerName: b, percentageOfNodesToScore: 30}]")

    assert configuration.profile("b") is configuration.profiles[1]
    assert configuration.profile("c") is None
    assert [one.percentage_of_nodes_to_score for one in configuration.profiles] == [None, 30]


def test_a_profile_takes_the_percentage_of_the_whole_unless_it_has_its_own(read: Read) -> None:
    configuration = read(
        """\
        percentageOfNodesToScore: 70
        profiles: [{schedulerName: a}, {schedulerName: b, percentageOfNodesToScore: 0}]
        """
    )

    assert [one.percentage_of_nodes_to_score for one in configuration.profiles] == [70, None]


def test_weights_and_disabled_plugins_show(read: Read) -> None:
    (profile,) = read(
        """\
        profiles:
        - plugins:
            multiPoint:
              enabled: [{name: TaintToleration, weight: 9}, {name: NodeAffinity}]
              disabled: [{name: ImageLocality}]
            score:
              enabled: [{name: NodeResourcesFit, weight: 7}]
            filter:
              disabled: [{name: NodePorts}]
        """
    ).profiles

    assert _weights(profile) == {
        "NodeResourcesFit": 7,
        "TaintToleration": 9,
        "NodeAffinity": 1,
        "VolumeBinding": 1,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "DynamicResources": 2,
        "NodeResourcesBalancedAllocation": 1,
    }
    assert "NodePorts" not in _named(profile, "filter")
    assert "NodePorts" in _named(profile, "pre_filter")
    assert "ImageLocality" not in profile.plugins


def test_a_plugin_is_one_object_at_all_its_points(read: Read) -> None:
    (profile,) = read("").profiles

    fit = profile.plugins["NodeResourcesFit"]
    assert fit in profile.filter
    assert all(one is fit for one in (*profile.filter, *profile.score) if one.name == "NodeResourcesFit")


def test_what_extenders_manage_is_not_counted_again(read: Read) -> None:
    configuration = read(
        """\
        extenders:
        - urlPrefix: http://127.0.0.1:8888
          filterVerb: filter
          httpTimeout: 250ms
          managedResources: [{name: example.com/gpu, ignoredByScheduler: true}, {name: example.com/nic}]
        """
    )

    (extender,) = configuration.extenders
    assert extender.http_timeout == 0.25
    fit = configuration.profiles[0].plugins["NodeResourcesFit"].plugin
    assert isinstance(fit, NodeResourcesFit)
    assert fit.ignored_resources == ("example.com/gpu",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("parallelism: 0", "parallelism: 0 is not 1 or more"),
        ("parallelism: 2.5", "parallelism: the number 2.5 stands where an integer is wanted"),
        ("parallelism: 2147483648", "parallelism: 2147483648 is not from -2147483648 to 2147483647"),
        ("enableProfiling: 1", "enableProfiling: the number 1 stands where true or false is wanted"),
        ("podInitialBackoffSeconds: 0", "podInitialBackoffSeconds: 0 is not 1 or more"),
        ("podMaxBackoffSeconds: 0", "podMaxBackoffSeconds: 0 is less than podInitialBackoffSeconds"),
        ("clientConnection: {burst: -1}", "clientConnection.burst: -1 is below zero"),
        ("leaderElection: {resourceLock: endpoints}", "leaderElection.resourceLock: 'endpoints' is not leases"),
        ("leaderElection: {leaseDuration: 10s}", "leaderElection.leaseDuration: is not longer than renewDeadline"),
        ("leaderElection: {retryPeriod: -1s}", "leaderElection.retryPeriod: is not longer than nothing"),
        ("extenders: [{prioritizeVerb: p}]", "extenders[0].weight: 0 is not 1 or more, as one that prioritizes needs"),
        ("extenders: [{bindVerb: b}, {bindVerb: b}]", "extenders[1].bindVerb: extenders[0] binds already, and only"),
        ("extenders: [{managedResources: [{name: cpu}]}]", "extenders[0].managedResources[0].name: 'cpu' is no name"),
        ("extenders: [{tlsConfig: {caData: '?'}}]", "extenders[0].tlsConfig.caData: the text '?' stands where base64"),
        ("profiles: [{percentageOfNodesToScore: -1}]", "profiles[0].percentageOfNodesToScore: -1 is not from 0"),
        ("profiles: {}", "profiles: a mapping stands where a list is wanted"),
        (
            "profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: -1}]}}}]",
            "profiles[0].plugins.score.enabled[0].weight: -1 is below zero",
        ),
        (
            "profiles: [{plugins: {filter: {enabled: [{name: NodePorts}, {name: NodePorts}]}}}]",
            "profiles[0].plugins.filter.enabled[1]: 'NodePorts' is enabled there already",
        ),
        (
            "profiles: [{plugins: {multiPoint: {enabled: [{name: EBSLimits}]}}}]",
            "profiles[0].plugins.multiPoint.enabled[0].name: 'EBSLimits' was removed from kube-scheduler",
        ),
        (
            "profiles: [{pluginConfig: [{name: NodeAffinity}, {name: NodeAffinity}]}]",
            "profiles[0].pluginConfig[1].name: 'NodeAffinity' has arguments already",
        ),
        (
            "profiles: [{pluginConfig: [{name: VolumeBinding, args: {kind: NodeAffinityArgs}}]}]",
            "profiles[0].pluginConfig[0].args.kind: is not VolumeBindingArgs",
        ),
        (
            "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {resources: []}}}]}]",
            "profiles[0].pluginConfig[0].args.scoringStrategy.type: has to be given",
        ),
        ("profiles: [{schedulerName: a, schedulerName: b}]", "profiles[0]: 'schedulerName' is there twice"),
    ],
)
def test_bad_values_are_told_at_their_place(problems: ProblemsOf, text: str, problem: str) -> None:
    (found,) = problems(text)

    assert found.startswith(f"line 3: {problem}")


def test_what_has_no_effect_is_noted(read: Read) -> None:
    configuration = read(
        """\
        parallelism: 4
        clientConnection: {kubeconfig: /etc/x, qps: 100}
        profiles:
        - plugins:
            multiPoint:
              disabled: [{name: ImageLocality}, {name: Nope}]
              enabled: [{name: GangScheduling}]
          pluginConfig:
          - {name: NodeName, args: {a: b}}
        """
    )

    assert configuration.parallelism == 4
    assert configuration.client_connection.kubeconfig == "/etc/x"
    assert configuration.notes == (
        "parallelism has no effect: one thread decides, and looks at all nodes at once",
        "clientConnection.qps has no effect: requests are not slowed down",
        (
            "profiles[0].plugins.multiPoint.enabled[0]: GangScheduling does nothing without a feature gate that is off "
            "by default"
        ),
        "profiles[0].plugins.multiPoint.disabled[1]: 'Nope' is not a plugin, so nothing goes",
        "profiles[0].pluginConfig[0]: NodeName takes no arguments, so these have no effect",
    )


def test_a_default_configuration_has_nothing_to_note() -> None:
    assert default_configuration().notes == ()
