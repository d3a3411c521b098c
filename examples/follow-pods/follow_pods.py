"""Count the pods on each node, from a mirror that is kept true whatever happens to the server."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from bayplan.client.api import Client
from bayplan.client.credentials import load_access
from bayplan.client.reflector import Reflector
from bayplan.objects.pod import PODS

if TYPE_CHECKING:
    from bayplan.client.changes import Change
    from bayplan.objects.pod import Pod


class PodsByNode:
    """A count for each node, which follows the changes one by one."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        #: Off until the first list is complete: nobody wants a line for each pod there ever was.
        self.talkative = False

    def follow(self, change: Change[Pod]) -> None:
        """Take in one change. A pod is on a node from its binding to its end."""
        before, after = node_of(change.old), node_of(change.new)
        if before == after:
            return
        for node, step, verb in ((before, -1, "went"), (after, +1, "came")):
            if node:
                self.counts[node] += step
                if self.talkative:
                    count = self.counts[node]
                    print(f"{node}: {count - step} -> {count} ({change.object.metadata.key} {verb})", flush=True)


def node_of(pod: Pod | None) -> str:
    """Where a pod takes room; empty for one that waits, has ended or is not there."""
    return "" if pod is None or pod.is_finished else pod.spec.node_name


async def main() -> None:
    """Follow the cluster that the kubeconfig names."""
    by_node = PodsByNode()
    async with Client.connect(load_access()) as client:
        reflector = Reflector(client, PODS, by_node.follow)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(reflector.run())
            await reflector.wait_synced()
            by_node.talkative = True
            nodes = [node for node, count in by_node.counts.items() if count]
            print(f"ready: {by_node.counts.total()} pods on {len(nodes)} nodes", file=sys.stderr, flush=True)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main())
