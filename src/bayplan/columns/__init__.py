"""The cluster as placement sees it: nodes in columns, pods counted by what they have in common."""
