"""Ready-made plugins, one a module, named as kube-scheduler names them."""
