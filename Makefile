# SPDX-License-Identifier: MIT
# Verbs over Meson and ninja. `make help` lists them; missing packages are installed where root.
# Each compiler and each instrumentation has a build folder of its own.

export LC_ALL = C
ifeq ($(origin CC),default)
CC = cc
BUILD ?= build
else
BUILD ?= build-$(notdir $(firstword $(CC)))
endif
export CC
MESON_FLAGS ?=
# -O1 -g1 compile in half the time of -O2 -g, leave more for the sanitizers to see, and name lines all the same.
SANITIZE = -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Ddebug=false \
	-Dc_args='-g1 -fno-sanitize-recover=undefined'
export ASAN_OPTIONS ?= detect_leaks=1:allocator_may_return_null=1
# libbabeltrace2 forgets events of streams that are damaged.
export LSAN_OPTIONS ?= suppressions='$(CURDIR)/tools/lsan.supp':print_suppressions=0
export UBSAN_OPTIONS ?= print_stacktrace=1

C_FOLDERS = include src sim tests bench papers
R ?= text
T ?= 60
N ?= 10
SEED ?= 1
PREFIX ?= /usr/local
RECORDED ?= ../shared/data

.PHONY: all demo check san fuzz bench papers sim campaign soak faults mutants bless answers fmt fmt-check doc install uninstall wheel deb dist tidy cover clean help

all: $(BUILD)/build.ninja ## build the library, build/unskew and the manual
	@ninja -C $(BUILD) $(NINJAFLAGS)

$(BUILD)/build.ninja:
	@tools/need.sh build
	@meson setup $(BUILD) -Dtests=disabled $(MESON_FLAGS)

demo: all ## make example captures and run the main job on them
	@tools/demo.sh $(BUILD)/unskew demo

check: ## build everything and run all tests
	@tools/need.sh check
	@tools/check.sh $(BUILD) $(MESON_FLAGS)

san: ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/need.sh check
	@tools/check.sh $(BUILD)-san $(SANITIZE) $(MESON_FLAGS)

fuzz: ## fuzz one parser: make fuzz R=pcap T=60 (seconds; merge: into its corpus); crashes in fuzz/
	@tools/need.sh fuzz
	@tools/fuzz.sh $(R) $(T)

sim: ## every simulated scenario under N more seeds: make sim N=20
	@tools/need.sh check
	@tools/build_tests.sh $(BUILD) $(MESON_FLAGS)
	@for seed in $$(seq 1000 $$((999 + $(N)))); do \
		$(BUILD)/tests/sim/test_truth $(BUILD)/unskew --seed $$seed || exit 1; done

campaign: ## N random scenarios against the band's promise: make campaign N=10000 [SEED=1]
	@tools/need.sh check
	@tools/build_tests.sh $(BUILD) $(MESON_FLAGS)
	@$(BUILD)/tests/sim/campaign --count $(N) --seed $(SEED) --jobs 2 $(BUILD)/unskew

soak: ## what takes minutes: 100,000 rounds on a line, a live map written at full speed, probes between namespaces for ten minutes
	@tools/need.sh check
	@tools/build_tests.sh $(BUILD) $(MESON_FLAGS)
	@$(BUILD)/tests/sim/test_tie 100000
	@ninja -C $(BUILD) bench/bench_live && $(BUILD)/bench/bench_live 10
	@$(BUILD)/tests/sim/test_probe_hosts $(BUILD)/unskew $(BUILD)/tests/sim/relay --seconds 600

faults: ## every call of reading, publishing and allocating fails once, signals, full disks: minutes
	@tools/need.sh check
	@tools/build_tests.sh $(BUILD) $(MESON_FLAGS)
	@tests/faults/run.py --all $(BUILD)/unskew $(BUILD)/tests/faults/fail.so tests/golden/data

mutants: ## N lines of the sources changed, one at a time: which do the tests notice? make mutants N=100 [SEED=1]
	@tools/need.sh check
	@tools/build_tests.sh $(BUILD) $(MESON_FLAGS)
	@tools/mutants.py $(BUILD) $(N) $(SEED)

bench: ## throughput, and ratios to tcpdump and mergecap in the same run; OLD=PROGRAM compares with another build of unskew
	@tools/need.sh bench
	@$(MAKE) --no-print-directory all BUILD=$(BUILD)
	@ninja -C $(BUILD) benches
	@bench/run.py $(BUILD) $(PACKETS)
	@[ ! "$(OLD)" ] || bench/against.py $(OLD) $(BUILD)/unskew
	@[ ! -d $(BUILD)/tests/page/modules ] || node bench/page.mjs $(BUILD)/unskew $(BUILD)/tests/page/modules

papers: ## the papers' tables, made again: doc/papers; PAPER=ashton for one of them
	@tools/need.sh papers
	@$(MAKE) --no-print-directory all BUILD=$(BUILD)
	@ninja -C $(BUILD) $(NINJAFLAGS) bench/bench_fit papers/paper_clocks papers/paper_real
	@papers/run.py $(BUILD) doc/papers $(PAPER)

example: ## the worked example anew, doc/example.md and its pictures: RECORDED=folder of recorded data
	@tools/need.sh check
	@tools/build_tests.sh $(BUILD) $(MESON_FLAGS)
	@tools/example.sh $(BUILD) $(RECORDED)

bless: all ## accept the present output of golden tests: make bless T=name, or all of them
	@tests/golden/run.sh bless $(BUILD)/unskew $(if $(filter command,$(origin T)),$(T))

answers: ## accept the present answers of tests/answers, and what fuzz corpora hold, and print which are others than before
	@tools/need.sh check
	@tools/build_tests.sh $(BUILD) $(MESON_FLAGS)
	@tests/answers/answers.py $(BUILD)/unskew --bless --write-otf2 $(BUILD)/tests/sim/write_otf2
	@tests/fuzz/found.sh $(BUILD)

fmt: ## lay out the C files
	@tools/need.sh fmt
	@find $(C_FOLDERS) -name '*.[ch]' | xargs clang-format -i

fmt-check: ## is anything laid out differently?
	@tools/need.sh fmt
	@find $(C_FOLDERS) -name '*.[ch]' | xargs clang-format --dry-run -Werror

doc: all ## the manual pages, as text: build/doc/man
	@for page in $(BUILD)/doc/man/*.1; do echo $$page; done

install: all ## install under PREFIX (/usr/local); DESTDIR is honoured
	@where="$(DESTDIR)$(PREFIX)"; until [ -e "$$where" ]; do where=$$(dirname "$$where"); done; [ -w "$$where" ] || \
		{ echo "unskew: $$where is not yours to write to: sudo make install, or make install PREFIX=~/.local" >&2; exit 1; }
	@meson configure $(BUILD) -Dprefix="$(PREFIX)" -Dlibdir=lib
	@meson install -C $(BUILD) --quiet
	@[ "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig

wheel: ## the Python package with the library and the program inside: dist/unskew-*.whl
	@tools/need.sh wheel
	@tools/wheel.sh dist
	@echo dist/*.whl

deb: all ## Debian packages of the last commit: dist/*.deb
	@tools/need.sh deb
	@tools/deb.sh $(BUILD) dist
	@ls dist/*.deb

uninstall: ## remove what make install put there
	@ninja -C $(BUILD) uninstall
	@[ "$$(id -u)" -ne 0 ] || ldconfig

dist: all ## a tarball of the last commit
	@meson dist -C $(BUILD) --no-tests --allow-dirty

tidy: all ## static analysis
	@tools/need.sh tidy
	@find src sim -name '*.c' | xargs clang-tidy -p $(BUILD) --quiet \
		--checks='-*,bugprone-*,-bugprone-easily-swappable-parameters,-bugprone-suspicious-string-compare,-bugprone-implicit-widening*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.*'

cover: ## line coverage of the tests
	@tools/need.sh cover
	@tools/need.sh check
	@tools/check.sh build-cover -Db_coverage=true -Dbuildtype=debug || true
	@gcovr -r . --object-directory build-cover -e tests -e bench --exclude-unreachable-branches

clean: ## remove everything that was built
	@rm -rf build build-* demo dist fuzz

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 14
