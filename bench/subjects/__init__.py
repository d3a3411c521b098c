"""The clients that are compared. Each module has `list_pods(kubeconfig)` and `watch_pods(kubeconfig, events, meter)`.

Each does the same work as its users would write it: hold the pods in a dict, by namespace and name.
"""
