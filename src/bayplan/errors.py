"""Every error that Bayplan raises.

::

    BayplanError                 what went wrong, and what to do about it
    ├── UsageError               a wrong argument or file: nothing was started
    │   └── ConfigurationError   a configuration that cannot be meant, with every problem in it
    ├── ValidationError          text or data that breaks Kubernetes' rules (a quantity, a selector)
    ├── PluginFailure            a plugin raised an exception: the pod fails, with the plugin's name
    ├── EnvironmentFault         this machine lacks something: a program, a port, a writable directory
    └── ClientError              talking to an API server
        ├── CredentialsError     no usable kubeconfig, or credentials that cannot be read
        ├── Unreachable          no answer came, and the request had no effect
        ├── OutcomeUnknown       a write was sent and no answer came: it may or may not have happened
        ├── ProtocolError        an answer came that is not Kubernetes'
        ├── LeadershipLost       another may lead from now on
        └── ApiError             the API server answered with a failure `Status`
            ├── BadRequest · Unauthorized · Forbidden · NotFound · MethodNotAllowed · Invalid
            ├── Conflict
            │   └── AlreadyExists
            ├── Expired          410: the resource version or continue token is too old
            ├── TooManyRequests  429, with how long to wait
            └── ServerError      5xx

A scheduling "no" is a value, never one of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class BayplanError(Exception):
    """The root of the tree: one sentence that says what went wrong, and the remedy when there is one."""

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message if remedy is None else f"{message}; {remedy}")
        #: What went wrong, without the remedy.
        self.problem = message
        #: What to do next, in the imperative, or None where nobody can know.
        self.remedy = remedy


class UsageError(BayplanError):
    """A wrong argument or file: nothing was started."""


class ConfigurationError(UsageError):
    """A configuration that cannot be meant. It lists every problem, so that one round of edits is enough."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        listed = "".join(f"\n  {problem}" for problem in problems)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__(f"{source} has {count}:{listed}")
        #: Each with its path and line, where known.
        self.problems = tuple(problems)


class ValidationError(BayplanError, ValueError):
    """Text or data that breaks Kubernetes' rules."""


class PluginFailure(BayplanError):
    """A plugin raised an exception. The pod that it was asked about fails, and no other."""

    def __init__(self, plugin: str, doing: str, error: BaseException) -> None:
        super().__init__(f"plugin {plugin} failed while {doing}: {type(error).__name__}: {error}")
        #: The plugin's name.
        self.plugin = plugin


class EnvironmentFault(BayplanError):
    """Something is missing on this machine: a program, a free port, a writable directory."""


class ClientError(BayplanError):
    """Talking to an API server went wrong."""


class CredentialsError(ClientError):
    """No usable kubeconfig, or credentials that cannot be read."""


class Unreachable(ClientError):
    """No answer came, and the request certainly had no effect: it is safe to send it again."""


class OutcomeUnknown(ClientError):
    """A write was sent and no answer came. Whether it happened must be looked up, not guessed."""


class ProtocolError(ClientError):
    """An answer came that is not Kubernetes': a proxy's page, a broken stream, an undecodable object."""


class LeadershipLost(ClientError):
    """Another may lead from now on; what was done as a leader has been cancelled."""


class ApiError(ClientError):
    """The API server answered with a failure `Status`."""

    def __init__(
        self,
        message: str,
        *,
        code: int,
        reason: str = "",
        causes: Sequence[str] = (),
        retry_after: float | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy)
        #: The HTTP status code.
        self.code = code
        #: Kubernetes' machine-readable reason, such as ``AlreadyExists``; empty when the server gave none.
        self.reason = reason
        #: The machine-readable reasons of the causes in the Status' details, such as ``DisruptionBudget``.
        self.causes = tuple(causes)
        #: Seconds that the server asked us to wait, from its Retry-After header or its Status details.
        self.retry_after = retry_after


class BadRequest(ApiError):
    """400."""


class Unauthorized(ApiError):
    """401: the server does not know who we are."""


class Forbidden(ApiError):
    """403: the server knows who we are and says no."""


class NotFound(ApiError):
    """404."""


class MethodNotAllowed(ApiError):
    """405: this resource does not do that."""


class Conflict(ApiError):
    """409: the object has moved on, or a precondition does not hold."""


class AlreadyExists(Conflict):
    """409 on create: the name is taken."""


class Expired(ApiError):
    """410: the resource version or continue token is too old; list again."""


class Invalid(ApiError):
    """422: the object breaks a rule of its type."""


class TooManyRequests(ApiError):
    """429: the server sheds load, or an eviction is held back by a disruption budget."""


class ServerError(ApiError):
    """5xx: the server failed."""
