"""Garbage that compilations leave to the collector, in a process without the objects of other tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKS = Path(__file__).with_name("garbage_checks.py")


def test_garbage():
    """Each collection takes as long as there are objects: seconds beside thousands of tests."""
    options = ("-q", "--noconftest", "-p", "no:xdist", "-p", "no:cacheprovider", "-o", "addopts=")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, CHECKS],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"{CHECKS.read_text().count('def test_')} passed" in ran.stdout
