"""VolumeBinding: claims decide where a pod can go, and where a pod goes decides what its claims are bound to.

A claim that is bound keeps its pods where its volume can be reached. One whose class waits for its first consumer is
bound when that pod is placed: to the smallest volume that fits and can be reached from the node, or, where there is
none, to one that is made for that node. `plan` says what is known of a pod's claims before any node is looked at,
`search` what becomes of them on each node, and `findings` keeps that up to date.
"""

from bayplan.plugins.volumebinding.plugin import VolumeBinding

__all__ = ["VolumeBinding"]
