"""Clusters that are not there: workloads made up from a seed, and what a scheduler decided about them."""

from __future__ import annotations
