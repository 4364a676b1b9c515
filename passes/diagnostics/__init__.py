"""Warnings and explanations: programs and choices in, text for users out; nothing is changed.

Read `value_warnings` first.
"""
