"""Builders that the passes share: changed index variables, new ops one after the other.

Read `tensor_builder` first.
"""
