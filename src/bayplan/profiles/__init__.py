"""kube-scheduler's configuration file, read into frozen profiles."""

from bayplan.profiles.configuration import default_configuration, read_configuration
from bayplan.profiles.file import ClientConnection, Extender, ExtenderTLS, LeaderElection, ManagedResource
from bayplan.profiles.profile import PluginInstance, Profile, SchedulerConfiguration
from bayplan.profiles.rendering import effective

__all__ = [
    "ClientConnection",
    "Extender",
    "ExtenderTLS",
    "LeaderElection",
    "ManagedResource",
    "PluginInstance",
    "Profile",
    "SchedulerConfiguration",
    "default_configuration",
    "effective",
    "read_configuration",
]
