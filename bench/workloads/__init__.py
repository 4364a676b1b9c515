"""Workloads, a file a family."""
