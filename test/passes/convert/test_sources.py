"""Programs that are converted when they are read, and those that are not."""

from tiledialect import lift
from tiledialect.passes.convert.sources import source_passes


def test_programs_of_patterns_are_not_converted():
    @lift.fun
    def total(x: lift.array("N")):
        return x >> lift.reduce(lift.add, 0.0)

    assert "tensor.from_elements" in str(total.module)
    assert not source_passes(total.module)
