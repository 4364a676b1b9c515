"""The examples of the page about the index algebra are what the code says."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "index.md"


def test_the_examples():
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 20
    assert result.failed == 0
