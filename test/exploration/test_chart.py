"""Charts of trials as SVG."""

from __future__ import annotations

from math import inf
from xml.etree import ElementTree

import pytest

from tiledialect.exploration.chart import chart
from tiledialect.exploration.study import Trial

SVG = "{http://www.w3.org/2000/svg}"


def trial(number: int, seconds: float, source: str) -> Trial:
    failure = "none" if seconds < inf else "wrong"
    return Trial("C", number, f"<i : {number}> & more", 1e-6, seconds, failure, "", source, {})


def test_every_trial_has_a_point_with_its_text():
    sources = ("seed", "mutation", "sampler", "draw")
    trials = [trial(k, 1e-6 * (k + 1), source) for k, source in enumerate(sources)]
    root = ElementTree.fromstring(chart([*trials, trial(4, inf, "seed")], 2e-6, 1e-7))
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert titles == [f"<i : {k}> & more" for k in range(5)]
    texts = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert {"default", "device's limit", "trials", *sources} <= {*texts}
    assert any(text.startswith("x") for text in texts)


@pytest.mark.parametrize("seconds", [[], [inf], [1e-6], [1e-6, 1e-6], [3.0, 1e-9]])
def test_any_number_of_trials_has_a_chart(seconds: list[float]):
    trials = [trial(k, time, "seed") for k, time in enumerate(seconds)]
    ElementTree.fromstring(chart(trials, inf, 0.0))
