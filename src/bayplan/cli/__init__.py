"""The command line. Its conventions are in docs/cli.md; a command is one module in `commands`."""

from bayplan.cli.app import main

__all__ = ["main"]
