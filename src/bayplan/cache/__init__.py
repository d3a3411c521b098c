"""The mirror of the cluster: what the API server has said, and what we have decided since."""
