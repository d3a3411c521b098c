"""Deciding: which nodes will do for a pod, which of them is best, and who would have to make room."""
