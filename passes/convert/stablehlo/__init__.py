"""Patterns that convert StableHLO, one file a family of ops."""
