# `make demo` and `make test` need Python >= 3.11 and set up the rest in .venv themselves.

PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
JOBS := 2
# What is installed besides the package itself: extras of pyproject.toml.
EXTRAS := dev
BIN := .venv/bin
INSTALLED = .venv/installed-$(EXTRAS)
TYPES := build/types

.PHONY: help demo test tests lint unit filecheck format dist docs fuzz jax linalg aten onnx mlir bench bench-model clean

help:
	@echo "make demo    find edges in a photograph, and train a network to read digits"
	@echo "make test    everything that must pass: lint, pytest, lit"
	@echo "make lint    ruff and pyright alone"
	@echo "make dist    build a wheel in dist/"
	@echo "make docs    write the generated pages of docs/ anew"
	@echo "make format  format the code"
	@echo "make fuzz    feed random programs, schedules, orders of passes and index spaces until something breaks"
	@echo "make jax     run functions and models of JAX on the device, and tests of StableHLO"
	@echo "make aten    write the table of PyTorch's operators"
	@echo "make onnx    run ONNX's tests of operators"
	@echo "make linalg  convert other projects' tests of linalg"
	@echo "make mlir    verify the kernels of all programs in upstream's mlir-opt"
	@echo "make bench   measure the kernels beside others'"
	@echo "make bench-model  judge the cost model by recorded timings"

.venv/installed-%: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed"; exit 1; }
	@test -x $(BIN)/python || { echo "setting up .venv"; $(PYTHON) -m venv .venv; }
	@# Python compiles the files that are imported; pip would compile all of them, for 20 seconds.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[$*]'
	@# xdsl-jax asks for xDSL 0.73: the tests run it, which works, with the newest.
	$(if $(filter dev,$*),$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		'xdsl-jax==0.6.*')
	@touch $@

demo: EXTRAS := demo
demo: .venv/installed-demo
	$(BIN)/python examples/demo.py
	$(BIN)/python examples/train_digits.py --quick

test:
	@# pyright keeps one core busy; the other is left to lit, and to pytest if pyright takes longer.
	$(MAKE) -j 2 lint tests

tests: $(INSTALLED)
	$(MAKE) filecheck
	$(MAKE) unit

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	@# The packages as they are imported: pyright does not know where pyproject.toml puts them.
	@rm -rf $(TYPES) && mkdir -p $(TYPES)/tiledialect
	@cp -rs $(CURDIR)/pyproject.toml $(CURDIR)/tiledialect $(CURDIR)/docs $(CURDIR)/examples \
		$(CURDIR)/bench $(TYPES)
	@cp -rs $(CURDIR)/passes $(CURDIR)/lowering $(CURDIR)/tools $(TYPES)/tiledialect
	$(BIN)/pyright --pythonpath $(BIN)/python --project $(TYPES)

unit: $(INSTALLED)
	$(BIN)/pytest -n $(JOBS)

filecheck: $(INSTALLED)
	$(BIN)/lit -v -j $(JOBS) test

format: $(INSTALLED)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

dist: $(INSTALLED)
	@# What an earlier build left would be packed too.
	rm -rf build/lib
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist/*.whl

docs: $(INSTALLED)
	$(BIN)/python docs/generate.py

fuzz: $(INSTALLED)
	@# ARGS="--seconds 3600 --seed 7 --limit 60": when to stop, where to begin, seconds for a program.
	$(BIN)/python test/fuzz.py $(ARGS)

jax: $(INSTALLED)
	@# STABLEHLO=../stablehlo: a checkout of openxla/stablehlo, whose interpreter tests run, too.
	$(BIN)/pytest -q --every-case 0 test/api/test_jax.py
	$(if $(STABLEHLO),$(BIN)/python test/stablehlo_oracle.py \
		$(STABLEHLO)/stablehlo/tests/interpret --page docs/stablehlo-tests.md)

aten: $(INSTALLED)
	$(BIN)/python test/aten_oracle.py --page docs/aten-operators.md

onnx: $(INSTALLED)
	@# ARGS="--device intel:0": on a device, else by the reference semantics.
	$(BIN)/python test/onnx_oracle.py --page docs/onnx-tests.md $(ARGS)

linalg: $(INSTALLED)
	@# LINALG=../xdsl/tests/filecheck: folders of MLIR files.
	$(BIN)/python test/linalg_oracle.py $(LINALG) --page docs/linalg-tests.md

mlir: $(INSTALLED)
	@# ARGS="--only 'avx512:rows/*'": a device, or programs.
	$(BIN)/python test/mlir_oracle.py $(ARGS)

bench: $(INSTALLED)
	@# ARGS="--only product --plot bench.svg": docs/bench.md.
	@# NumPy's threads would hold a core for long while others have their turn.
	OPENBLAS_THREAD_TIMEOUT=18 $(BIN)/python bench/run.py $(ARGS)

bench-model: $(INSTALLED)
	@# ARGS="--only product/small --time 2m --trials 200": explores, too.
	@mkdir -p build
	$(if $(ARGS),$(BIN)/python bench/exploration.py --json build/trials.json $(ARGS))
	$(BIN)/python bench/model_quality.py bench/timings/*.gz $(if $(ARGS),build/trials.json)

clean:
	rm -rf .venv build dist demo-output .pytest_cache .ruff_cache .hypothesis *.egg-info
