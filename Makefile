# `make help` lists the targets. All files go into this folder, mainly into .venv and target.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The pinned versions in requirements/dev.txt need Python 3.11; an older Python gets the newest compatible versions.
PINS := $(shell $(PYTHON) -c 'import sys; print("-c requirements/dev.txt" if sys.version_info >= (3, 11) else "")')
RUST_FILES = $(shell git ls-files '*.rs')
PYTHON_FILES := python benches docs packaging requirements web/engine.py
# Congestion controls as programs of the kernel, if they can be compiled here; `make EBPF= ...` leaves them out.
EBPF ?= $(shell sh crates/emu/available.sh)
CORE_FEATURES = $(if $(EBPF),--features pyo3/extension-module --features $(EBPF))
RUST_FEATURES = $(if $(EBPF),--features ackclock-emu/ebpf)
# A fixed seed: what passes here passes in CI. `make test-long` draws other cases.
RUST_TEST = PROPTEST_RNG_SEED=1 cargo test --workspace --quiet $(RUST_FEATURES)
# Parts of the names of the tests that compile copies of crates.
COPYING := of_contributing outside_the_workspace
# `make web ENGINE=--required` fails without a compiler for browsers, instead of leaving the engine out.
ENGINE ?=
# Crates that need Linux are empty elsewhere, and others have another part in their place.
OTHER_SYSTEMS := aarch64-apple-darwin x86_64-pc-windows-gnu
# `make licences ADVISORIES=--required` fails without the list of vulnerabilities, which comes from GitHub.
ADVISORIES ?=
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

# Tests start Python hundreds of times, and without stored bytecode each process would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help core page web ebpf kernel estimate demo test test-long count check format lint systems licences types pages rustdoc fuzz fuzz-ns2 fuzz-linux bench docs site wheel clean

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## */\1|/' | while IFS='|' read -r name text; do printf '  %-10s %s\n' "$$name" "$$text"; done

$(VENV)/.ready: pyproject.toml requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit("ackclock needs Python 3.10 or newer" if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python requirements/install.py $(PINS)
	@touch $@

core: $(VENV)/.ready page  ## build the compiled core (release) into the virtual environment
	@# The flags are those of the wheel, which so takes over what is compiled here.
	@CARGO_ENCODED_RUSTFLAGS="$$($(BIN)/python packaging/remap.py)" VIRTUAL_ENV=$(CURDIR)/$(VENV) PIP_QUIET=1 \
		$(BIN)/maturin develop --release --quiet $(CORE_FEATURES)
	@# maturin also copies the wheel's papers beside the sources, where the next wheel would find each of them twice.
	@rm -rf python/ackclock/data/papers

page: $(VENV)/.ready  ## build the pages that run the engine: playground, live reports, widget
	@web/run.sh build

web: page  ## compile the engine for browsers, so that the pages need no server
	@$(BIN)/python web/engine.py $(ENGINE)

ebpf:  ## compile the program of the kernel that crates/emu contains; needs clang
	crates/emu/bpf/build.sh

kernel: core  ## build a Linux kernel for virtual time from Debian's linux-source package
	$(BIN)/ackclock kernel build

estimate:
	@$(PYTHON) -c 'import os; count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(); \
		print("Builds the engine, then runs 38,400 simulations: 8 minutes of processor time, shared by", count, "processors")'

demo: estimate core  ## reproduce the paper `ass`: figures, verdicts, a report
	@$(BIN)/ackclock paper ass --brief --out out/ass

test: core  ## run the tests
	@# Tests that compile copies of crates take one processor for minutes, so they run beside the others.
	$(RUST_TEST) --no-run
	@$(RUST_TEST) -- $(COPYING) & copying=$$!; \
		$(RUST_TEST) -- $(COPYING:%=--skip %); others=$$?; wait $$copying && exit $$others
	@# A file's tests run in one process, so that its fixtures are made once.
	$(BIN)/pytest --quiet --numprocesses auto --dist loadfile -m 'not kernel and not wheel and not long'
	$(BIN)/pytest --quiet -m kernel
	$(BIN)/pytest --quiet -m wheel
	@web/run.sh test

test-long: core  ## run thousands of random cases, of which `make test` runs a few
	PROPTEST_CASES=2000 cargo test --workspace --quiet $(RUST_FEATURES) -- --include-ignored
	$(BIN)/pytest --quiet --numprocesses auto --dist loadfile -m long

pages: core
	$(BIN)/python docs/generate.py --check

count: $(VENV)/.ready  ## compare the engine's instructions per packet with benches/instructions.json; needs valgrind
	$(BIN)/python benches/instructions.py --quick

# The tests look at the site that was just built.
check: export ACKCLOCK_SITE = $(CURDIR)/target/site
check: core web lint systems licences types pages rustdoc site test count fuzz  ## run all checks of CI: format, lints, licences, types, documentation, tests, a short fuzz run

format: $(VENV)/.ready  ## format all code
	@rustfmt --edition 2024 $(RUST_FILES)
	$(BIN)/ruff format $(PYTHON_FILES)
	$(BIN)/ruff check --fix $(PYTHON_FILES)
	@web/run.sh format

lint: $(VENV)/.ready
	@rustfmt --edition 2024 --check $(RUST_FILES)
	cargo clippy --workspace --all-targets --quiet $(RUST_FEATURES) -- -D warnings
	$(BIN)/ruff format --check $(PYTHON_FILES)
	$(BIN)/ruff check $(PYTHON_FILES)
	PYTHONPATH=python $(BIN)/lint-imports --no-cache
	@web/run.sh lint
	@if command -v go >/dev/null && GOBIN=$(CURDIR)/target go install $(ACTIONLINT) 2>/dev/null; then target/actionlint && target/actionlint docs/guides/gate.yml; \
		else echo 'skipped: the check of the workflows needs actionlint, and Go with a network to install it'; fi

systems:  ## lint the crates as macOS and Windows compile them; needs the standard libraries
	@for system in $(OTHER_SYSTEMS); do \
		if ls "$$(rustc --print target-libdir --target $$system)"/libstd-*.rlib >/dev/null 2>&1; then \
			cargo clippy --workspace --quiet --target $$system -- -D warnings || exit 1; \
		else echo "skipped: the lints for another system need its standard library: rustup target add $$system"; fi; done

licences: $(VENV)/.ready  ## check the licences of all dependencies, and known vulnerabilities of the crates
	@$(BIN)/python packaging/licences.py $(ADVISORIES)

types: core
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest ackclock._core
	@web/run.sh types

docs: core rustdoc  ## generate the reference pages from the program, and the Rust documentation
	$(BIN)/python docs/generate.py

rustdoc:
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --quiet

$(VENV)/.site: $(VENV)/.ready requirements/site.txt
	$(BIN)/pip install --quiet --disable-pip-version-check $(PINS) $(if $(PINS),-c requirements/site.txt) furo myst-parser
	@touch $@

site: core web $(VENV)/.site  ## build the documentation site with its playground into target/site
	$(BIN)/python docs/site/build.py

fuzz:  ## fuzz readers, engine and endpoints, each target for 10 seconds
	bash fuzz/run.sh 10

fuzz-ns2: core  ## compare with ns-2 on 600 random networks; needs ns-2
	$(BIN)/python benches/ns2/fuzz/fuzz.py --count 600

fuzz-linux: core  ## compare with Linux packet by packet on 260 random scenarios; needs a kernel (ackclock kernel build)
	$(BIN)/python benches/linux/packets/walk.py --count 260

bench: core  ## measure speed, also of ns-2 and ns-3 if installed; writes target/bench.json
	$(BIN)/python benches/bench.py
	cargo bench --workspace --quiet

# The loader of programs in a wheel has a libelf of which version and source are known.
wheel: EBPF = $(shell sh crates/emu/available.sh vendored)
wheel: $(VENV)/.ready web  ## build the source distribution, and from it the wheel, into dist/
	@rm -rf dist
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/python benches/optimise.py wheel $(CORE_FEATURES)
	@ls dist/*

clean:  ## remove all build products
	rm -rf target dist $(VENV) out THIRD-PARTY.txt docs/_build python/ackclock/*.so python/ackclock/data/page web/node_modules \
		web/src/scenario/generated
