"""Selectors as the wire carries them. `labels` and `nodeaffinity` compile them into what answers quickly."""

import msgspec

from bayplan.objects.wire import Wire


class LabelSelectorRequirement(Wire, frozen=True):
    """A key, an operator (In, NotIn, Exists, DoesNotExist) and its values."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Wire, frozen=True):
    """All of it must hold. An empty one selects everything; an absent one, nothing."""

    match_labels: dict[str, str] = msgspec.field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class NodeSelectorRequirement(Wire, frozen=True):
    """A key, an operator (In, NotIn, Exists, DoesNotExist, Gt, Lt) and its values."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(Wire, frozen=True):
    """All of it must hold; an empty one selects no node."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(Wire, frozen=True):
    """One of its terms must hold."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()
