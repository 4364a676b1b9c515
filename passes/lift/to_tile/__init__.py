"""Patterns as tensor ops: functions of the `lift` dialect in, of the `tile` dialect out.

Read `functions` first.
"""
