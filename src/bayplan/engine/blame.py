"""Whose fault an exception is."""

from __future__ import annotations

from typing import NoReturn

from bayplan.errors import PluginFailure


class blaming:  # noqa: N801 - reads as a word in `with`
    """What goes wrong inside is the plugin's failure, and that of the pod it was asked about."""

    __slots__ = ("_doing", "_plugin")

    def __init__(self, plugin: str, doing: str) -> None:
        self._plugin = plugin
        self._doing = doing

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            blame(self._plugin, self._doing, error)


def blame(plugin: str, doing: str, error: Exception) -> NoReturn:
    """Raise the failure of a plugin; what has been blamed on one already is raised as it is."""
    if isinstance(error, PluginFailure):
        raise error
    raise PluginFailure(plugin, doing, error) from error
