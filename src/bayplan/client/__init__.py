"""Talking to an API server: credentials, requests, reflectors, leases, events."""
