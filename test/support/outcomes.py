"""Outcomes of other projects' tests, as a page of the documentation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

KINDS = ("passed", "refused", "wrong")
TYPE = "there are no tensors of "
NOT_KNOWN = "an op that is not known"


@dataclass(frozen=True)
class Outcome:
    """Outcome of a program: ``passed``, ``refused`` or ``wrong``, and why."""

    kind: str
    reason: str = ""


def files_of(paths: Iterable[Path]) -> dict[str, Path]:
    """The MLIR files that are given or in folders that are given, by their names in these."""
    files = [(p if p.is_dir() else p.parent, f) for p in paths for f in _files(p)]
    return {f.relative_to(p).with_suffix("").as_posix(): f for p, f in files}


def _files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.mlir")) if path.is_dir() else [path]


def programs(path: Path) -> list[str]:
    """The programs of a file."""
    return re.split(r"(?m)^// -----.*$", path.read_text())


def shorter(reason: str) -> str:
    """A reason without the op, which a table shows."""
    if "is not registered" in reason or "unregistered" in reason:
        return NOT_KNOWN
    return re.sub(r"^[\w.]+( of @\w+)? cannot be converted: ", "", reason)


def reasons(outcomes: Sequence[Outcome]) -> str:
    """Reasons, each once; types that there are not together."""
    given = dict.fromkeys(shorter(o.reason) for o in outcomes if o.reason)
    types = [f"`{r.removeprefix(TYPE)}`" for r in given if r.startswith(TYPE)]
    others = [r.replace("|", "\\|") for r in given if not r.startswith(TYPE)]
    return "; ".join([*([f"types {', '.join(types)}"] if types else []), *others])


def table(found: Mapping[str, Sequence[Outcome]]) -> tuple[str, Counter[str]]:
    """A row for each file, and the number of programs of each kind."""
    total: Counter[str] = Counter()
    lines = ["| tests | passed | refused | reasons |", "| --- | --- | --- | --- |"]
    for name, outcomes in found.items():
        counts = Counter(o.kind for o in outcomes)
        total += counts
        lines.append(
            f"| `{name}` | {counts['passed']} | {counts['refused']} | {reasons(outcomes)} |"
        )
    return "\n".join(lines) + "\n", total


def report(found: Mapping[str, Sequence[Outcome]], text: str, page: Path | None) -> int:
    """Print the table, or write it to a page below a text; 1 if any result is wrong.

    The text has the fields ``all``, ``passed`` and ``refused``.
    """
    rows, total = table(found)
    if page is None:
        print(rows)
    else:
        counts = {kind: total[kind] for kind in KINDS}
        page.write_text(text.format(all=sum(total.values()), **counts) + "\n" + rows)
    for name, outcomes in found.items():
        for outcome in outcomes:
            if outcome.kind == "wrong":
                print(f"{name}: {outcome.reason}")
    print(", ".join(f"{total[kind]} {kind}" for kind in KINDS))
    return 1 if total["wrong"] else 0
