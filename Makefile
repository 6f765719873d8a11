# Thin: what is built is in meson.build, how things are done is in tools/. `make help` lists the targets.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 20
MESON_FLAGS ?= -Disas=own

.PHONY: all
all: setup ## set up and build; the binary is build/astra
	@tools/build.sh $(BUILD) $(MESON_FLAGS) -- astra

.PHONY: setup
setup: ## install what is missing, fetch the parser's sources; silent when all is there
	@tools/setup.sh build

.PHONY: demo
demo: all ## optimise the three kernels of the paper on the simulator, with the rules
	@tools/demo.sh $(BUILD)/astra

.PHONY: check check-rest
check: all ## the tests; the last line says how many passed and failed
	@tools/setup.sh check || echo "setup: without these the tests that need them are left out, and say so" >&2
	@tools/build.sh $(BUILD) -- all meson-test-prereq
	@tools/check.py $(BUILD) --no-suite rest
check-rest: all ## the tests that check leaves out: more of the same, and longer; with it they are all
	@tools/setup.sh check || echo "setup: without these the tests that need them are left out, and say so" >&2
	@tools/build.sh $(BUILD) -- all meson-test-prereq
	@tools/check.py $(BUILD) --suite rest

.PHONY: quick
quick: setup ## the tests that take a minute: units, conformance of the simulator, layers
	@tools/build.sh $(BUILD) $(MESON_FLAGS) -- meson-test-prereq
	@tools/check.py $(BUILD) --suite unit --suite ptx --suite lint

.PHONY: check-gpu
check-gpu: all ## the simulator against this machine's GPU: conformance, right and broken kernels, examples
	@tools/build.sh $(BUILD) -- tests/both tests/verdicts tests/ptx/cases
	@tests/gpu/check.sh $(BUILD)

.PHONY: asan tsan
asan: setup ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/sanitized.sh asan
tsan: setup ## what runs threads, under ThreadSanitizer
	@tools/sanitized.sh tsan --suite unit --suite long --suite ptx --suite sanitizer

.PHONY: fuzz
fuzz: setup ## each libFuzzer target of tests/fuzz for FUZZ_SECONDS
	@tools/setup.sh fuzz
	@tools/fuzz.sh $(FUZZ_SECONDS)

.PHONY: fuzz-launcher
fuzz-launcher: setup ## the launcher's interpreter against g++, FUZZ_SECONDS for each kind of launcher
	@tools/build.sh $(BUILD) -- tests/plans
	@tests/launcher/differential.py $(BUILD)/tests/plans --seconds $(FUZZ_SECONDS) --seed $$(date +%s)

.PHONY: cover
cover: setup ## a table of the lines and branches that the tests reach
	@tools/setup.sh cover
	@tools/cover.sh

.PHONY: bench-sim
bench-sim: all ## the simulator's speed, with and without its checks
	@tools/build.sh $(BUILD) -- tools/bench_sim
	@$(BUILD)/tools/bench_sim

.PHONY: bench-judge
bench-judge: all ## processor seconds that judging one candidate of each example takes on the simulator
	@tools/build.sh $(BUILD) -- tools/bench_judge
	@$(BUILD)/tools/bench_judge

.PHONY: confirm-corpora
confirm-corpora: all ## the whole confirmation of every kernel of the corpora, nvcc included, into docs/results/confirmation.md; long
	@tools/build.sh $(BUILD) -- tests/verdicts
	@tools/confirm_corpora.sh $(BUILD)

.PHONY: blind
blind: all ## what the judge makes of kernels whose authors had not seen it (tests/blind); some minutes
	@tools/blind.py $(BUILD)/astra

.PHONY: bench-busy
bench-busy: all ## the same verdicts on some kernels beside 20 busy processes as without them? some minutes
	@tools/build.sh $(BUILD) -- tests/verdicts
	@tools/bench_busy.py $(BUILD)/tests/verdicts

.PHONY: bench-paired
bench-paired: all ## how often a measurement's interval is wrong, under made-up noise
	@tools/build.sh $(BUILD) -- tools/bench_paired
	@$(BUILD)/tools/bench_paired

.PHONY: bench-gpu
bench-gpu: all ## what measuring on this machine's GPU is worth: noise, 2 %, candidates an hour
	@tools/build.sh $(BUILD) -- tools/bench_gpu
	@$(BUILD)/tools/bench_gpu examples/silu_and_mul examples/fused_add_rmsnorm examples/merge_attn_states

.PHONY: bench-fleet
bench-fleet: all ## trials a second, memory and a core's share of a pool with 256 workers elsewhere, whose judging is made up
	@tools/build.sh $(BUILD) -- tools/bench_fleet
	@$(BUILD)/tools/bench_fleet 256 1
	@$(BUILD)/tools/bench_fleet 256 0.01

.PHONY: check-hopper
check-hopper: setup ## CUTLASS's products and attention for Hopper, as nvcc compiles them, on the simulator; network and some minutes
	@tools/setup.sh hopper
	@tools/build.sh $(BUILD) $(MESON_FLAGS) -- tests/hopper/run_recorded
	@tests/hopper/check.sh $(BUILD)

.PHONY: check-fleet
check-fleet: all ## a campaign of 100 kernels over 8 nodes of this machine, three killed, against an undisturbed one; long
	@tests/fleet/campaign.py $(BUILD)/astra

.PHONY: check-slurm
check-slurm: all ## workers as steps of a real Slurm on this machine, killed, drained and requeued (docs/campaign.md); root
	@tests/fleet/slurm.sh $(BUILD)/astra

.PHONY: check-ssh
check-ssh: all ## workers over ssh to this machine, one killed in the middle; needs openssh-server
	@tests/fleet/ssh.sh $(BUILD)/astra

.PHONY: bench-screen
bench-screen: all ## what the live screen costs of a core, while a run is replayed in its own time
	@tools/build.sh $(BUILD) -- tools/bench_screen
	@rm -rf $(BUILD)/bench-screen; mkdir $(BUILD)/bench-screen
	@$(BUILD)/astra optimize examples/silu_and_mul --no-memory --rounds 2 --quiet --out $(BUILD)/bench-screen/run --trace $(BUILD)/bench-screen/events.jsonl >/dev/null
	@$(BUILD)/tools/bench_screen $(BUILD)/bench-screen/events.jsonl

.PHONY: bench-loop
bench-loop: all ## Astra's own processor time in a round with models
	@python3 tools/bench_loop.py $(BUILD)/astra

.PHONY: bench-report
bench-report: all ## how long the report of a run of over 50 candidates takes to write and to open
	@tools/setup.sh check
	@python3 tools/bench_report.py $(BUILD)/astra

.PHONY: format lint
format: ## clang-format the C files in place
	@tools/setup.sh lint
	@tools/format.sh
lint: all ## clang-tidy, shellcheck where it is installed, the layers
	@tools/setup.sh lint
	@tools/lint.py $(BUILD)

.PHONY: install
install: all ## into $(DESTDIR)$(PREFIX)
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --quiet

.PHONY: dist
dist: setup ## dist/astra-VERSION-linux-ARCH: a folder and an archive that run on other distributions
	@tools/setup.sh dist
	@tools/dist.sh

.PHONY: clean
clean: ## remove what was built; .deps stays
	rm -rf .cache $(BUILD) build-asan build-tsan build-cover build-fuzz build-dist dist

.PHONY: help
help:
	@awk -F ':.*## ' '/^[a-z -]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
