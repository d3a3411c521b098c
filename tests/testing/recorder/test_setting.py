"""What a scenario's control plane is made of."""

from __future__ import annotations

from bayplan.simulator.workloads import FLAVOURS, make_scenario
from bayplan.testing.recorder.setting import control_plane_config, scheduler_config


def test_all_nodes_are_scored_whatever_the_scenario_configures() -> None:
    for flavour in FLAVOURS:
        scenario = make_scenario(flavour, nodes=5, pods=1)
        config = scheduler_config(scenario)
        assert config["percentageOfNodesToScore"] == 100
        assert config.get("profiles") == scenario.config.get("profiles")


def test_the_way_to_the_cluster_is_no_part_of_what_a_trace_tells() -> None:
    scenario = make_scenario("profiles", nodes=5, pods=1)
    assert "clientConnection" in control_plane_config(scenario).scheduler_config
    assert "clientConnection" not in scheduler_config(scenario)


def test_controllers_run_only_where_there_are_volumes() -> None:
    def runs(flavour: str) -> bool:
        return control_plane_config(make_scenario(flavour, nodes=5, pods=1)).controller_manager

    assert [flavour for flavour in FLAVOURS if runs(flavour)] == [
        "everything",
        "volumes",
        "waiting",
        "waiting-shaped",
        "preempt-volumes",
    ]
