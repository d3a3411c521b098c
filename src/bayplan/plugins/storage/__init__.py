"""What the volume plugins share: a pod's claims, who can reach a volume, and in-tree volumes as CSI volumes."""
