"""Stands for PyTorch, which is not among the requirements: nothing of it is checked."""

from typing import Any

def __getattr__(name: str) -> Any: ...
