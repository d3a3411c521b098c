"""Made-up clusters and what happens in them, as data: the same seed gives the same scenario on every machine.

A `Scenario` names no scheduler. The trace recorder plays it to a real one; a simulation can play it to ours.
"""

from __future__ import annotations

from bayplan.simulator.workloads.file import read_scenario
from bayplan.simulator.workloads.flavours import FLAVOURS, make_scenario
from bayplan.simulator.workloads.scenario import Action, Create, Delete, Scenario, Update

__all__ = ["FLAVOURS", "Action", "Create", "Delete", "Scenario", "Update", "make_scenario", "read_scenario"]
