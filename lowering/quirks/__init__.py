"""Answers to what drivers do wrong, where it can be avoided; docs/runtime.md lists all of them."""
