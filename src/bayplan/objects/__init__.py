"""The parts of Kubernetes objects that placement reads, decoded straight from wire bytes."""
