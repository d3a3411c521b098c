"""kube-scheduler's configuration file, read into frozen profiles."""
