"""Runs every measurement of this directory, one after the other; 1 if one of them misses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> int:
    """The measurements, each in a process of its own, as each counts its imports."""
    missed: list[str] = []
    for script in sorted(Path(__file__).parent.glob("*.py")):
        if script.name == Path(__file__).name:
            continue
        print(f"== {script.stem}", flush=True)
        if subprocess.run([sys.executable, str(script)], check=False).returncode:
            missed.append(script.stem)
    print(f"missed: {', '.join(missed)}" if missed else "nothing missed")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
