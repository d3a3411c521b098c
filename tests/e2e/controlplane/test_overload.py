"""429 by priority and fairness, for one user and nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bayplan.errors import UsageError
from bayplan.testing.controlplane.overload import grant_all, overload

if TYPE_CHECKING:
    from bayplan.testing.controlplane import ControlPlane

pytestmark = pytest.mark.e2e

NODES = "/api/v1/nodes"


def test_one_user_is_shed_and_the_others_are_served(own_control_plane: ControlPlane) -> None:
    plane = own_control_plane
    eager, calm = plane.user("eager"), plane.user("calm")
    grant_all(plane, eager)
    grant_all(plane, calm)
    for _ in range(2):
        with overload(plane, eager):
            for path in (NODES, f"{NODES}?watch=1&timeoutSeconds=1", "/api/v1/namespaces/default/pods"):
                refused = plane.request("GET", path, user=eager)
                assert refused.status == 429, refused
                assert int(refused.headers["retry-after"]) >= 1
                assert plane.request("GET", path, user=calm).status == 200
        assert plane.request("GET", NODES, user=eager).status == 200


def test_an_exempt_user_cannot_be_shed(own_control_plane: ControlPlane) -> None:
    admin = own_control_plane.admin
    with pytest.raises(UsageError, match="take a user outside system:masters"), overload(own_control_plane, admin):
        pass
