"""Scoreboard of ONNX's own tests of backends (``onnx.backend.test``): passed, refused, wrong.

Run with ``make onnx``; ``--only`` takes a part of the tests' names, ``--device`` a device.
"""

# pyright: basic

from __future__ import annotations

import argparse
import sys
import traceback
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import tiledialect as td

HEAD = """# ONNX's tests of backends

<!-- Made by `make onnx`. -->

The package `onnx` holds tests of each operator, with inputs and expected results
(`onnx.backend.test`). `make onnx` runs them {where}.
Of {total} tests {passed} pass, {refused} are refused, and {wrong} give
another result. Of the {usable} whose inputs and outputs are tensors of reals, integers and booleans
that the language has, {share:.0%} pass. [What is refused](onnx.md) is an error that says so.

| operator | passed | refused | reasons |
| --- | --- | --- | --- |
"""


def cases() -> list[Any]:
    """Tests of nodes."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_model_tests(kind="node")


RANDOM = ("test_bernoulli", "test_training_dropout_default", "test_training_dropout")
"""Tests whose results are NumPy's random numbers."""


def run(case: Any, device: str | None) -> tuple[str, str]:
    """Outcome of a test (passed, refused, wrong or crashed), and the reason."""
    model = case.model or onnx.load(f"{case.model_dir}/model.onnx")
    try:
        loaded = td.onnx.load(model, device=device, precision="exact")
        if case.name.startswith(RANDOM):
            return "refused", "random: its numbers are those of another generator"
        for inputs, expected in data_of(case, model):
            named = dict(zip((i.name for i in model.graph.input), inputs, strict=False))
            found = (loaded if device else loaded.reference)(**named)
            found = found if isinstance(found, tuple) else (found,)
            if reason := differs(found, expected, case):
                return "wrong", reason
    except td.TileError as error:
        return "refused", error.message.splitlines()[0]
    except Exception:
        return "crashed", traceback.format_exc(limit=-3)
    return "passed", ""


def data_of(case: Any, model: Any) -> list[tuple[list[Any], list[Any]]]:
    """Pairs of inputs and outputs."""
    if case.data_sets is not None:
        return [([*map(_array, i)], [*map(_array, o)]) for i, o in case.data_sets]
    found = []
    for folder in sorted(Path(case.model_dir).glob("test_data_set_*")):
        pair = []
        for kind, infos in (("input", model.graph.input), ("output", model.graph.output)):
            values = []
            for k, info in enumerate(infos):
                path = folder / f"{kind}_{k}.pb"
                values.append(_value(path.read_bytes(), info.type))
            pair.append(values)
        found.append(tuple(pair))
    return found


def _array(value: Any) -> Any:
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _value(data: bytes, t: Any) -> Any:
    if t.HasField("tensor_type"):
        tensor = onnx.TensorProto()
        tensor.ParseFromString(data)
        return onnx.numpy_helper.to_array(tensor)
    return None


def differs(found: Any, expected: Any, case: Any) -> str:
    """Difference of results beyond the test's own tolerance; empty without one."""
    for number, (ours, own) in enumerate(zip(found, expected, strict=True)):
        if isinstance(own, list | tuple):
            if len(ours) != len(own):
                return f"output {number}: {len(ours)} tensors, not {len(own)}"
            if text := differs(ours, own, case):
                return f"output {number}: {text}"
            continue
        own, ours = np.asarray(own), np.asarray(ours)
        if ours.shape != own.shape:
            return f"output {number}: shape {ours.shape}, not {own.shape}"
        if ours.dtype != own.dtype:
            return f"output {number}: {ours.dtype}, not {own.dtype}"
        if own.dtype.kind in "fV" or own.dtype.name == "bfloat16":
            # Two roundings to 8 bits: ours and theirs differ in where they round.
            rtol = max(case.rtol, 2**-6 if own.dtype.name == "bfloat16" else 0)
            left, right = ours.astype(np.float64), own.astype(np.float64)
            atol = max(case.atol, 1e-7)
            if "_dft" in case.name:
                # Zeros are sums that cancel: their error is that of the largest terms.
                atol = 2**-22 * np.abs(right).max()
            if not np.allclose(left, right, rtol, atol, equal_nan=True):
                worst = np.nanmax(np.abs(left - right))
                return f"output {number}: off by {worst:.3g}"
        elif not np.array_equal(ours, own):
            return f"output {number}: {np.sum(ours != own)} of {own.size} differ"
    return ""


def operator_of(case: Any) -> str:
    """Operator that a test is of."""
    model = case.model or onnx.load(f"{case.model_dir}/model.onnx")
    name = case.name.removeprefix("test_").partition("_expanded")[0]
    ops = [n.op_type for n in model.graph.node]
    return ops[0] if len(ops) == 1 else name.split("_")[0]


def main() -> int:
    """Run the tests, print what is wrong, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--device")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    outcomes: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for case in cases():
        if given.only not in case.name:
            continue
        outcome, reason = run(case, given.device)
        outcomes[operator_of(case)].append((case.name, outcome, reason))
        if outcome in ("wrong", "crashed") or given.verbose:
            print(outcome, case.name, reason, flush=True)
    counts = Counter(o for rows in outcomes.values() for _, o, _ in rows)
    print(dict(counts))
    if given.page:
        write(given.page, outcomes, counts, given.device)
    return int(counts["wrong"] + counts["crashed"] > 0)


UNUSABLE = ("there are no tensors of", "is a tensor of strings", "is no tensor")


def write(page: Path, outcomes: Any, counts: Counter[str], device: str | None) -> None:
    """Write the scoreboard."""
    rows = []
    unusable = 0
    for operator, found in sorted(outcomes.items()):
        refused = [reason for _, outcome, reason in found if outcome == "refused"]
        unusable += sum(any(text in reason for text in UNUSABLE) for reason in refused)
        passed = sum(outcome == "passed" for _, outcome, _ in found)
        reasons = "; ".join(dict.fromkeys(r.partition(": ")[2] or r for r in refused))
        rows.append(f"| `{operator}` | {passed} | {len(refused)} | {reasons} |\n")
    total = sum(counts.values())
    head = HEAD.format(
        where=f"on {device}" if device else "by the reference semantics",
        total=total,
        passed=counts["passed"],
        refused=counts["refused"],
        wrong=counts["wrong"] + counts["crashed"],
        usable=total - unusable,
        share=counts["passed"] / max(1, total - unusable),
    )
    page.write_text(head + "".join(rows))


if __name__ == "__main__":
    sys.exit(main())
