# The entry point of the project. `make` alone lists the targets.

SETUP  ?= scripts/setup
JOBS   ?= $(shell nproc)
PREFIX ?= /usr/local
# Tests wait for a third of their time, so one more runs than there are cores.
CTEST   = ctest -j$(if $(filter 1,$(JOBS)),1,$(shell expr $(JOBS) + 1)) --output-on-failure
CXX_FILES = $(shell git ls-files '*.cpp' '*.cu' '*.h')

# CMake takes the compiler launcher from the environment.
ifneq ($(shell command -v ccache),)
export CMAKE_CXX_COMPILER_LAUNCHER ?= ccache
# Another checkout can use the objects of this one.
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1
# Otherwise ccache does not trust precompiled headers.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros
endif

.DEFAULT_GOAL := help
.PHONY: help setup setup-gpu setup-browser build demo demo-minimal papers test test-all asan tsan slow convergence convergence-text bench test-gpu bench-gpu gpu format lint docs install package

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install missing packages from the distribution
	@$(SETUP)

# Installs what the GPU targets need, which is less; uses no network if nothing is missing.
setup-gpu:
	@$(SETUP) --gpu

# build-PRESET: configures a preset of CMakePresets.json and builds TARGETS in it.
build-%: setup
	@cmake --preset $* $(if $(wildcard build/$*/build.ninja),>/dev/null,)
	@cmake --build --preset $* -j$(JOBS) --target $(TARGETS)
TARGETS = all
build demo demo-minimal papers package convergence: TARGETS = trigram
install: TARGETS = trigram nccl_net_trigram with_pytorch

build: build-release ## build the optimised program

demo: build-release ## train under 4 algorithms x 3 networks, print the table, write the report
	build/release/experiments/trigram run configs/quickstart.json --force
	build/release/experiments/trigram report results/quickstart

demo-minimal: SETUP += --minimal
demo-minimal: build-minimal ## the demo with the fewest packages: without MPI, GPUs and tests
	build/minimal/experiments/trigram run configs/quickstart.json --force
	build/minimal/experiments/trigram report results/quickstart

papers: build-release ## run the experiments of configs/papers/, compare them with published results
	@for config in configs/papers/*.json; do begin=$$(date +%s); \
	  build/release/experiments/trigram run $$config -o results/papers -j$(JOBS) --no-table || exit; \
	  echo "$$config: $$(($$(date +%s) - begin)) s"; done
	build/release/experiments/trigram report results/papers --check

test: build-dev ## build and run the tests of each algorithm, world and command
	$(CTEST) --preset dev

setup-browser: setup
	@$(SETUP) --browser

test-all: setup-browser build-dev ## build and run the other tests, without those of `make slow`
	@cmake --build --preset dev -j$(JOBS) --target thorough_tests
	$(CTEST) --test-dir build/dev -L thorough -LE slow --timeout 300

slow: build-dev ## build and run the tests that take many minutes
	@cmake --build --preset dev -j$(JOBS) --target thorough_tests
	$(CTEST) --test-dir build/dev -L slow

convergence: build-release ## train with every algorithm, write docs/convergence.md; with SEEDS=1 print it
	scripts/convergence.py --trigram build/release/experiments/trigram --jobs $(JOBS) \
	  $(if $(SEEDS),--seeds $(SEEDS),-o docs/convergence.md)

convergence-text: build-release ## train the language model with every algorithm, write docs/convergence-text.md
	scripts/convergence_text.py --trigram build/release/experiments/trigram --jobs $(JOBS) \
	  -o docs/convergence-text.md

bench: TARGETS = bench_codec bench_optimizers bench_sim bench_mpi
bench: build-release ## print times, and the machine on which they were measured
	@lscpu | grep -E '^(Model name|CPU\(s\)|L[23] cache)'
	build/release/tests/bench_codec
	build/release/tests/bench_optimizers
	build/release/tests/bench_sim
	set -a; . scripts/one_machine.env; mpirun -n 2 build/release/tests/bench_mpi

# These targets run on a GPU and take at most BUDGET seconds together (0: no limit). ONLY selects parts by name;
# scripts/gpu.py explains its exit codes.
BUDGET ?= 480
GPU = scripts/gpu.py --jobs $(JOBS) --budget $(BUDGET) --only '$(ONLY)'
test-gpu: setup-gpu ## build and run the GPU world's tests; exit code 77 where there is no GPU
	@$(GPU) tests

bench-gpu: setup-gpu ## compare speeds of kernels and NCCL with their bounds; 77 where there is no GPU
	@$(GPU) figures

gpu: setup-gpu ## test-gpu and bench-gpu, with one build
	@$(GPU) all

# ThreadSanitizer of GCC 12 crashes on kernels with much address randomisation; setarch -R turns it off.
NO_ASLR = $(shell setarch -R true 2>/dev/null && echo setarch -R)
asan tsan: TARGETS = test_programs
asan: build-asan ## test the libraries under AddressSanitizer and UBSan
	$(CTEST) --preset asan

tsan: build-tsan ## test code with threads under ThreadSanitizer
	$(NO_ASLR) $(CTEST) --preset tsan

format: ## format the C++ files
	clang-format -i $(CXX_FILES)

lint: setup ## run clang-format, clang-tidy and shellcheck
	@cmake --preset dev -B build/lint -DTRIGRAM_UNITY=OFF >/dev/null
	@scripts/lint

docs: ## build the documentation into site/
	@command -v mkdocs >/dev/null || { echo "install it first: apt-get install mkdocs"; exit 1; }
	mkdocs build --strict

install: build-release ## install under PREFIX
	cmake --install build/release --prefix $(PREFIX)

package: build-release ## make a Debian package in build/release
	cd build/release && cpack -G DEB
