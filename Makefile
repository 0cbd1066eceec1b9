# Two commands on a fresh machine: `make demo` and `make test`. Everything else is for developers.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo docs test test-web test-gpu test-numpy1 test-parallel test-parallel-ray test-serving test-serving-oracle test-serving-api test-serving-ray test-federated test-ray lint fuzz wild bench bench-cpu bench-data bench-gpu interop zoo clean

$(STAMP): pyproject.toml packaging/mindspore/pyproject.toml
	@$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or newer is needed"'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "python3-venv is missing: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e '.[dev]' ./packaging/mindspore
	@touch $@

demo: $(STAMP)
	$(BIN)/python examples/mnist/train.py

test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile -m 'not gpu and not slow and not web'

# the main folders once more with NumPy 1.26, which packages pin
NUMPY1 := .venv-numpy1
test-numpy1:
	@test -x $(NUMPY1)/bin/python || $(PYTHON) -m venv $(NUMPY1)
	echo 'numpy==1.26.*' > $(NUMPY1)/constraints.txt
	$(NUMPY1)/bin/python -m pip install -q -c $(NUMPY1)/constraints.txt -e '.[dev]' ./packaging/mindspore
	$(NUMPY1)/bin/python -m pytest -n 2 --dist loadfile -m 'not gpu and not slow and not web' tests/runtime tests/prims tests/numpy \
	  tests/compiler tests/ops tests/mint tests/nn tests/formats tests/mindrecord tests/dataset tests/train tests/support tests/backend_cpu

test-parallel: $(STAMP)
	$(BIN)/python -m pytest tests/parallel -m 'not gpu'

# long runs with kills, slow and lying clients; needs redis-server
test-federated: $(STAMP)
	@command -v redis-server >/dev/null || { apt-get update -qq && apt-get install -y -qq redis-server; }
	$(BIN)/python -m pytest tests/federated
	$(BIN)/python tests/federated/soak.py --minutes 5
	$(BIN)/python tests/federated/kills.py --kills 1000 --store local --minutes 10 --at-once 4
	$(BIN)/python tests/federated/kills.py --kills 1000 --store redis --minutes 20 --at-once 4

# processes of a run as actors of a local Ray, in an environment of its own
RAY := .venv-ray
test-parallel-ray:
	@test -x $(RAY)/bin/python || $(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip install -q ray pytest -e '.[cpu,xla]'
	$(RAY)/bin/python -m pytest tests/parallel/ray_local.py

# the simulation on a local Ray, in an environment of its own
test-ray:
	@test -x $(RAY)/bin/python || $(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip install -q -e '.[dev,ray]'
	$(RAY)/bin/python -m pytest tests/federated/test_federated_ray.py

test-serving: $(STAMP)
	$(BIN)/python -m pytest tests/serving
	$(BIN)/python tests/serving/soak.py --seconds 600

# requests made from the OpenAPI document, by schemathesis in an environment of its own
SCHEMA := .venv-schemathesis
test-serving-api: $(STAMP)
	@test -x $(SCHEMA)/bin/schemathesis || { $(PYTHON) -m venv $(SCHEMA) && $(SCHEMA)/bin/python -m pip install -q schemathesis; }
	$(BIN)/python tests/serving/api_check.py $(SCHEMA)/bin/schemathesis

# the Ray Serve application on a local Ray
RAY := .venv-ray
test-serving-ray:
	@test -x $(RAY)/bin/python || $(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip install -q 'ray[serve]' requests pytest -e '.[cpu,onnx,train,serving]'
	$(RAY)/bin/python tests/serving/ray_local.py

ORACLE := .venv-oracle
# tiny models of every family, made and answered by transformers and PEFT in an environment of its own
test-serving-oracle: $(STAMP)
	@test -x $(ORACLE)/bin/python || $(PYTHON) -m venv $(ORACLE)
	$(ORACLE)/bin/python -m pip install -q transformers peft torch
	$(ORACLE)/bin/python tests/serving/transformers_models.py $(ORACLE)/models
	MS_TRANSFORMERS_MODELS=$(ORACLE)/models $(BIN)/python -m pytest tests/serving/test_as_transformers.py

lint: $(STAMP)
	$(BIN)/ruff check src tests examples benchmarks
	$(BIN)/mypy

docs: $(STAMP)
	$(BIN)/python docs/generate_api.py

test-web: $(STAMP)
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium; }
	$(BIN)/python -m pip install -q playwright
	$(BIN)/python -m pytest tests/web -m web

fuzz: $(STAMP)
	$(BIN)/python tests/fuzz/run.py

# real packages: make wild CHECKOUTS="mindone=/path/to/mindone mindcv=/path/to/mindcv"
wild: $(STAMP)
	$(BIN)/python tests/wild/run.py $(CHECKOUTS)

test-gpu:
	PYTHONPATH=src $(PYTHON) tests/gpu/run.py

bench: $(STAMP)
	$(BIN)/python benchmarks/core/run.py

bench-cpu: $(STAMP)
	$(BIN)/python benchmarks/cpu/run.py

bench-data: $(STAMP)
	$(BIN)/python benchmarks/data/run.py

bench-gpu:
	PYTHONPATH=src $(PYTHON) benchmarks/gpu/run.py

zoo: $(STAMP)
	$(BIN)/python benchmarks/zoo/run.py
	@if [ -n "$$MS_ORIGINALS_PYTHON" ]; then $(BIN)/python benchmarks/zoo/beside.py; \
	else echo "beside PyTorch: set MS_ORIGINALS_PYTHON to an interpreter with torchvision and transformers"; fi

interop: $(STAMP)
	$(BIN)/python tests/interop/run.py

clean:
	rm -rf $(VENV) $(NUMPY1) $(RAY) .pytest_cache .mypy_cache .ruff_cache
