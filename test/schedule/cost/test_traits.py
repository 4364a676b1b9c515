"""Traits of kinds of devices, for described modules."""

from __future__ import annotations

import pytest

from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.schedule.cost.device import device_of, device_or_common
from tiledialect.schedule.cost.traits import TRAITS, Kind, kind_of, traits_of

SPEC = 'builtin.module attributes {{dlti.target_system_spec = #dlti.target_system_spec<"{}" = #dlti.target_device_spec<{}>>}} {{}}'


@pytest.mark.parametrize("kind", Kind)
def test_a_spec_names_its_kind(kind: Kind):
    module = parse_mlir(SPEC.format(kind.upper(), '"compute_units" = 3 : i64'), "given")
    assert kind_of(module) is kind and traits_of(module) is TRAITS[kind]
    assert device_or_common(module) == device_of(module)
    assert device_or_common(module).traits is TRAITS[kind]


def test_a_module_without_a_spec_is_for_a_common_cpu():
    module = parse_mlir("builtin.module {}", "given")
    assert kind_of(module) is Kind.CPU and device_of(module) is None
    assert device_or_common(module).kind is Kind.CPU


def test_a_simulator_has_lanes_and_no_speed():
    module = parse_mlir(SPEC.format("GPU", '"type" = "simulator"'), "given")
    assert not traits_of(module).has_vectors and device_of(module) is None
