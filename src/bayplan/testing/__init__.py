"""What Bayplan is tested with, public so that plugin authors can use it too.

Nothing is imported here: each room below asks only for what it needs itself.
"""

from __future__ import annotations

__all__: list[str] = []
