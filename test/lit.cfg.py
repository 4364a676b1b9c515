"""lit's configuration: the tools are those beside the Python that runs lit, started by a server."""

# pyright: reportUndefinedVariable=false
# ruff: noqa: F821  (lit gives `config`)

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import lit.formats

here = os.path.dirname(__file__)
sys.path[:0] = [os.path.dirname(here), os.path.join(here, "support")]
import known_devices  # noqa: E402
import tool_server  # noqa: E402

config.name = "tiledialect"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".tile"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(os.path.dirname(config.test_source_root), "build", "lit")

tools = os.path.dirname(os.path.abspath(sys.executable))
config.environment["PATH"] = os.pathsep.join([tools, os.environ["PATH"]])
# The code beside the tests, whichever is installed.
config.environment["PYTHONPATH"] = os.path.dirname(config.test_source_root)
config.environment["TILE_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
known_devices.share(Path(config.environment["TILE_CACHE_DIR"]))
# Python finds these itself; what the user has set must not change what the tests see.
config.environment["PYTHONUTF8"] = "1"
config.environment["TILE_MEASURE"] = "0"

if find_spec("xdsl_jax") is not None:
    config.available_features.add("stablehlo")

commands = tool_server.start(config.environment)
config.environment["PATH"] = os.pathsep.join([str(commands), config.environment["PATH"]])
