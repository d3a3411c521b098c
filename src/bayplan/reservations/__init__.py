"""Pods that have been placed and are not bound yet: who still has to permit them, and until when."""
