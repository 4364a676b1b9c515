"""Candidate schedules: roles of indices, levels by patterns, and tiles of operands."""
