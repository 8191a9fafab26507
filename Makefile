# SPDX-License-Identifier: GPL-2.0-or-later
#
# One Makefile, not recursive over folders. `make help` prints the targets.
#
# The user's, also from the environment:
#		CC CFLAGS CPPFLAGS LDFLAGS LDLIBS AR PKG_CONFIG CROSS_COMPILE
# Folders:	DESTDIR prefix (or PREFIX) exec_prefix bindir sbindir datarootdir mandir
#		unitdir bashcompletiondir zshcompletiondir fishcompletiondir
# Switches:	V=1		show the commands
#		WERROR=1	more warnings, and all are errors (not with SANITIZE)
#		SANITIZE=address,undefined	in build/sanitize/, beside the plain build
#		BUILD=build/other		another folder for what is built; clean keeps it
#		FUZZ_TIME=60	seconds for each fuzz target
#		TEST_TIMEOUT=600	seconds for each test file
#		TESTS="tests/cli/a.t tests/unit/ui ..."	only these for make test and make check
#		TEST_JOBS=1	test files at once; two a CPU
#		EVERY=1		make check leaves out nothing, as in a release
#		QUICK=1		make analyze without clang, which takes most of its time
#		BPF=no		without BPF, even where clang, bpftool and libbpf are there

VERSION = 0.1.0
# Where the project is: a stand-in until it has an address. Packages name it, too.
HOMEPAGE = https://kvmtop.example/

# ---- the user's

# Sanitized: -O2 takes twice as long to compile as -O1, and -O0 twice as long to run.
CFLAGS ?= $(if $(SANITIZE),-O1 -g1,-O2 -g)
ifeq ($(origin CC),default)
CC = $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR = $(CROSS_COMPILE)ar
endif
PKG_CONFIG ?= $(CROSS_COMPILE)pkg-config
CLANG ?= clang
CLANG_TIDY ?= clang-tidy
BPF_CLANG ?= clang
# In /usr/sbin, which is not on every user's path.
BPFTOOL ?= $(or $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool),bpftool)
FUZZ_TIME ?= 60

# ---- ours

BUILD = $(if $(SANITIZE),build/sanitize,build)
ifeq ($(BUILD),build)
PROGRAM = kvmtop
else
PROGRAM = $(BUILD)/kvmtop
endif
RUN_PROGRAM = $(if $(filter /%,$(PROGRAM)),,./)$(PROGRAM)
LIB = $(BUILD)/libkvmtop.a

# SQLite first: when the program starts, its 1,600 symbols are looked for in the order of this list.
LIBS = sqlite3 libtracefs zlib libzstd ncursesw libpcre2-8 json-c yaml-0.1 expat libcrypt \
	$(if $(HAVE_BPF),libbpf) libelf
# microhttpd.h, curl/curl.h: the libraries are loaded when they are needed.
HEADERS_ONLY = uthash.h microhttpd.h curl/curl.h

# What runs in the kernel, and what talks to it; without BPF, no_bpf.c stands in for it.
BPF_SOURCES := $(sort $(wildcard providers/*/*.bpf.c))
BPF_USERS := $(sort $(filter-out %.bpf.c,$(wildcard $(addprefix providers/,bpf/*.c exits/*.c \
	account/*.c who/*.c tracepoint/bpf_*.c))))
BPF_STAND_IN = providers/tracepoint/no_bpf.c
# A release has these made: they are the same for every kernel where bytes are stored lowest first.
SHIPPED := $(wildcard $(BPF_SOURCES:%.bpf.c=%.le.skel.h))
LOWEST_FIRST = $(shell echo __BYTE_ORDER__ | $(CC) -E -P - 2>/dev/null | grep 1234)
USE_SHIPPED := $(if $(SHIPPED),$(LOWEST_FIRST))
BPF ?= $(shell $(if $(USE_SHIPPED),,command -v $(BPF_CLANG) >/dev/null && \
	command -v $(BPFTOOL) >/dev/null &&) $(PKG_CONFIG) --exists libbpf 2>/dev/null && echo yes)
HAVE_BPF := $(filter yes,$(BPF))

# What ncurses knows of these terminals is in the program, for systems without terminfo.
TERMINALS = xterm xterm-256color screen screen-256color tmux tmux-256color linux vt100 vt220

# What only the program of `make static` has.
STATIC_SOURCES = lib/no_dlopen.c

SOURCES := $(filter-out $(STATIC_SOURCES) $(BPF_SOURCES) \
	$(if $(HAVE_BPF),$(BPF_STAND_IN),$(BPF_USERS)),\
	$(sort $(filter-out build/% tests/%,$(wildcard *.c */*.c */*/*.c */*/*/*.c))))
BPF_TESTS := $(wildcard $(addprefix tests/unit/providers/,account/*.c exits/*.c who/*.c)) \
	tests/helpers/symbols.c $(addprefix tests/bench/,account.c exits.c sample.c switch.c)
TEST_SOURCES := $(filter-out $(if $(HAVE_BPF),,$(BPF_TESTS)),\
	$(sort $(wildcard $(addprefix tests/unit/,*.c */*.c */*/*.c */*/*/*.c))))
TEST_FOLDERS := $(filter-out tests/unit,$(patsubst %/,%,$(sort $(dir $(TEST_SOURCES)))))
FUZZ_SOURCES := $(sort $(wildcard tests/fuzz/fuzz_*.c))
HELPER_SOURCES := $(filter-out $(if $(HAVE_BPF),,$(BPF_TESTS)),\
	$(sort $(wildcard tests/helpers/*.c)))
BENCH_SOURCES := $(filter-out $(if $(HAVE_BPF),,$(BPF_TESTS)),$(sort $(wildcard tests/bench/*.c)))
SHELL_TESTS := $(sort $(wildcard tests/cli/*.t))
EVERY_SOURCE := $(SOURCES) $(TEST_SOURCES) $(FUZZ_SOURCES) $(HELPER_SOURCES) $(BENCH_SOURCES) \
	$(STATIC_SOURCES) tests/fuzz/seeds.c

OBJECTS = $(SOURCES:%.c=$(BUILD)/%.o)
LIB_OBJECTS = $(filter-out $(BUILD)/kvmtop.o,$(OBJECTS))
TEST_PROGRAMS = $(foreach source,$(TEST_SOURCES),\
	$(if $(filter test_%,$(notdir $(source))),$(source:%.c=$(BUILD)/%)))
HELPERS = $(HELPER_SOURCES:%.c=$(BUILD)/%)
BENCHES = $(BENCH_SOURCES:%.c=$(BUILD)/%)
FUZZERS = $(FUZZ_SOURCES:%.c=$(BUILD)/%)
SEEDS = $(FUZZ_SOURCES:tests/fuzz/fuzz_%.c=$(BUILD)/tests/fuzz/seeds_%)

WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wcast-qual -Wwrite-strings -Wvla -Wformat=2 -Wundef -Wold-style-definition -Wdate-time
CLANG_WARNINGS = -Wconditional-uninitialized -Wunreachable-code -Wcomma
MORE_WARNINGS = -Werror $(if $(findstring clang,$(CC)),$(CLANG_WARNINGS),-Wlogical-op \
	-Wduplicated-cond -Wtrampolines -Walloca)

# Asked once and only when something is built: help, clean and deps work without pkg-config.
pkg = $(shell $(PKG_CONFIG) $(1) $(2) 2>/dev/null)
LIB_CPPFLAGS = $(eval LIB_CPPFLAGS := $(call pkg,--cflags,$(LIBS)))$(LIB_CPPFLAGS)
LIB_LDLIBS = $(eval LIB_LDLIBS := $(call pkg,--libs,$(LIBS)))$(LIB_LDLIBS)
STATIC_LDLIBS = $(call pkg,--static --libs,$(LIBS))
TEST_CPPFLAGS = $(eval TEST_CPPFLAGS := $(call pkg,--cflags,cmocka))$(TEST_CPPFLAGS)
# Tests are compiled more often than run. A distribution's _FORTIFY_SOURCE warns of -O0.
TEST_CFLAGS = -O0 -Wno-cpp
TEST_LDLIBS = $(eval TEST_LDLIBS := $(call pkg,--libs,cmocka))$(TEST_LDLIBS)

# gcc takes members that sanitizers check to be the whole of their struct.
SANITIZE_FLAGS = -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer \
	$(if $(findstring clang,$(CC)),,-Wno-restrict)
# EXTRA_CFLAGS: what this file's own targets (lint, analyze, fuzz) add to a build.
OUR_CPPFLAGS = -std=gnu11 -D_GNU_SOURCE -I. -isystem $(BUILD) \
	-DKVMTOP_VERSION='"$(VERSION)"' $(LIB_CPPFLAGS)
# No name of the build folder in what is built: builds in two folders have the same bytes.
NO_BUILD_PATH = $(call quote,-ffile-prefix-map=$(CURDIR)=.)
# No code looks at floating-point exceptions: so gcc makes vectors of loops with a comparison, too.
OUR_CFLAGS = $(WARNINGS) $(if $(SANITIZE),$(SANITIZE_FLAGS),$(if $(WERROR),$(MORE_WARNINGS))) \
	$(EXTRA_CFLAGS) $(NO_BUILD_PATH) -fno-trapping-math -fPIE -pthread
COMPILE = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS)
# Without CFLAGS: a distribution's flags for its own machine are errors for this target, as is the
# stack protector, which some distributions build into clang. Debian has <asm/types.h> in a folder
# that clang does not look at for this target.
BPF_COMPILE = $(BPF_CLANG) --target=bpf -mcpu=v3 -O2 -g -fno-stack-protector $(NO_BUILD_PATH) \
	-Wall -Wextra $(if $(WERROR),-Werror) -I. $(patsubst %/asm/types.h,-idirafter %,\
	$(firstword $(wildcard /usr/include/*/asm/types.h)))
LINK = $(CC) $(OUR_CFLAGS) $(CFLAGS) $(LDFLAGS)
LINK_LIBS = $(LIB_LDLIBS) -lm -ldl $(LDLIBS)

ifeq ($(V),1)
Q =
say =
else
Q = @
say = @printf '  %-7s %s\n' $(1) $(2);
endif

export CC PKG_CONFIG

# All CPUs, unless -j gives a number; below another make, that make has set it.
ifeq ($(MAKELEVEL)$(filter clean,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

.DEFAULT_GOAL = all
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory

.PHONY: FORCE all static run tests objects test check check-live check-busy check-quick \
	check-hosts deps check-headers check-layers check-style lint analyze fuzz mutate bench \
	pictures install uninstall dist deb rpm pkg check-packages release clean help

all: $(PROGRAM) ## build ./kvmtop

$(PROGRAM): $(BUILD)/kvmtop.o $(LIB)
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(LINK_LIBS)

static: $(BUILD)/static/kvmtop ## build build/static/kvmtop: one file that needs no library

$(BUILD)/static/kvmtop: $(BUILD)/kvmtop.o $(STATIC_SOURCES:%.c=$(BUILD)/%.o) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(LINK) -static-pie -Wl,--wrap=dlopen -o $@ $^ $(STATIC_LDLIBS) -lm \
		$(LDLIBS) 2>$@.err || { packaging/tools/static-error $@.err; exit 1; }
	@cat $@.err >&2

$(LIB): $(LIB_OBJECTS) $(BUILD)/members
	$(call say,AR,$@)rm -f $@ && $(AR) qcsD $@ $(LIB_OBJECTS)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(COMPILE) $(ADD_CPPFLAGS) -MMD -MP -c -o $@ $<

# BPF: an object that every kernel can load, the same without DWARF, and a header with its bytes.
$(BUILD)/%.bpf.o: %.bpf.c $(BUILD)/flags-bpf
	@mkdir -p $(@D)
	$(call say,BPF,$@)$(BPF_COMPILE) -MMD -MP -c -o $@ $<
$(BUILD)/%.small.bpf.o: $(BUILD)/%.bpf.o
	$(call say,BPF,$@)$(BPFTOOL) gen object $@ $<
ifeq ($(USE_SHIPPED),)
$(BUILD)/%.skel.h: $(BUILD)/%.small.bpf.o
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< name $(notdir $*)_program >$@
else
$(BUILD)/%.skel.h: %.le.skel.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,SKEL,$@)cp $< $@
endif
.PHONY: skeletons
skeletons: $(BPF_SOURCES:%.bpf.c=$(BUILD)/%.skel.h)
ifneq ($(HAVE_BPF),)
$(patsubst %.c,$(BUILD)/%.o,$(BPF_USERS) $(BPF_TESTS)): $(BPF_SOURCES:%.bpf.c=$(BUILD)/%.skel.h)
endif

$(BUILD)/ui/screen/terminfo.h: ui/screen/terminfo $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,GEN,$@)ui/screen/terminfo $(TERMINALS) >$@
$(BUILD)/ui/screen/terminal.o: $(BUILD)/ui/screen/terminfo.h

$(TEST_SOURCES:%.c=$(BUILD)/%.o): $(BUILD)/flags-test
$(TEST_SOURCES:%.c=$(BUILD)/%.o): ADD_CPPFLAGS = $(TEST_CPPFLAGS) $(TEST_CFLAGS)

# The tests of a folder are one program, with a name for each of its files: tests/unit/unit.h.
define test_folder
$(BUILD)/$(1)/unit: $(patsubst %.c,$(BUILD)/%.o,$(filter $(wildcard $(1)/*.c),$(TEST_SOURCES)))
$(filter $(patsubst %.c,$(BUILD)/%,$(wildcard $(1)/*.c)),$(TEST_PROGRAMS)): $(BUILD)/$(1)/unit
endef
$(foreach folder,$(TEST_FOLDERS),$(eval $(call test_folder,$(folder))))
$(TEST_FOLDERS:%=$(BUILD)/%/unit): $(BUILD)/tests/unit/main.o $(LIB)
	$(call say,LINK,$@)$(LINK) -o $@ $(filter %.o,$^) $(LIB) $(TEST_LDLIBS) $(LINK_LIBS)
$(TEST_PROGRAMS):
	@ln -f $(@D)/unit $@

# kvmtop where finds callers by frame pointers, and a test their names.
$(HELPER_SOURCES:%.c=$(BUILD)/%.o): ADD_CPPFLAGS = -fno-omit-frame-pointer
$(HELPERS) $(BENCHES): $(BUILD)/%: $(BUILD)/%.o $(LIB)
	$(call say,LINK,$@)$(LINK) $(WRAP) -o $@ $(filter %.o,$^) $(LIB) $(LINK_LIBS)
# The program with another terminal and another clock.
$(BUILD)/tests/helpers/scripted: $(BUILD)/kvmtop.o
$(BUILD)/tests/helpers/scripted: WRAP = -Wl,--wrap=isatty,--wrap=recorder_take

$(FUZZERS): $(BUILD)/%: $(BUILD)/%.o $(LIB)
	$(call say,LINK,$@)$(LINK) -fsanitize=fuzzer -o $@ $< $(LIB) $(LINK_LIBS)
$(SEEDS): $(BUILD)/tests/fuzz/seeds_%: $(addprefix $(BUILD)/tests/fuzz/,fuzz_%.o seeds.o) $(LIB)
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(LINK_LIBS)

tests: $(TEST_PROGRAMS) $(if $(SANITIZE),$(SEEDS),$(HELPERS))
objects: $(EVERY_SOURCE:%.c=$(BUILD)/%.o)

# Stamps: files with the commands that the build uses. A stamp is written only when its text
# changes, and then everything that depends on it is made again; the checkout's folder is not in
# it. The pkg-config modules $(1) must exist, or one line says what to do.
define stamp
@for need in $(1); do $(PKG_CONFIG) --exists $$need || \
	{ echo "$$need missing: run \`make deps\`" >&2; exit 1; }; done
@printf '%s\n' $(call quote,$(subst $(CURDIR),.,$(2))) \
	"$$($(CC) --version 2>&1 | head -n 1)" >$@.$$$$ && \
	if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi
endef
quote = '$(subst ','\'',$(1))'

make_folder = mkdir -p $(BUILD) 2>/dev/null && test -w $(BUILD) || \
	{ echo "$(BUILD) cannot be written: choose another, BUILD=FOLDER" >&2; exit 1; }

# A compiler that the user named is not among what `make deps` installs.
no_cc = $(if $(filter gcc cc clang,$(CC)),$(CC) missing: run \`make deps\`,\
	CC is $(CC): no such command)

$(BUILD)/flags: FORCE
	@$(make_folder)
	@command -v $(firstword $(CC)) >/dev/null || { echo "$(strip $(no_cc))" >&2; exit 1; }
	@for need in $(firstword $(PKG_CONFIG)) infocmp; do command -v $$need >/dev/null || \
		{ echo "$$need missing: run \`make deps\`" >&2; exit 1; }; done
	@for need in $(HEADERS_ONLY); do \
		printf '#include <%s>\n' $$need | $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 || \
		{ echo "$$need missing: run \`make deps\`" >&2; exit 1; }; done
	$(call stamp,$(LIBS),$(COMPILE))

# After the first one, which says what is missing.
$(BUILD)/flags-bpf: FORCE $(BUILD)/flags
	$(call stamp,libbpf,$(BPF_COMPILE))

$(BUILD)/flags-test: FORCE $(BUILD)/flags
	$(call stamp,cmocka,$(TEST_CPPFLAGS) $(TEST_CFLAGS) : $(TEST_LDLIBS))

$(BUILD)/members: FORCE $(BUILD)/flags
	$(call stamp,,$(LIB_OBJECTS) : $(LINK) : $(LINK_LIBS))

-include $(EVERY_SOURCE:%.c=$(BUILD)/%.d) $(BPF_SOURCES:%.c=$(BUILD)/%.d)

# ---- build, run, test

run: ## install what is missing, build, and show a demo guest or a captured machine
	@packaging/tools/deps -q build
	@$(MAKE) all
	@packaging/tools/mount-tracefs
	@packaging/tools/show $(RUN_PROGRAM)

check: ## install what is missing, build, and run the tests
	@packaging/tools/deps -q build test
	@$(if $(filter tests/cli/fleet.t,$(CHOSEN_TESTS)),tests/hosts/beside fleet -- true)
	@packaging/tools/mount-tracefs
	@$(MAKE) test

# A test may run make: it must not take the jobs of this make.
RUN_ENV = env -u MAKEFLAGS -u MAKELEVEL KVMTOP=$(RUN_PROGRAM) HELPERS=$(BUILD)/tests/helpers

# Units are sanitized where foreign bytes are read, as the fuzzers' seeds are, and plain elsewhere.
# A file with a LIMIT (tests/unit/unit.h) is both: its limits are plain alone.
SANITIZERS = address,undefined
SANITIZED = $(BUILD)/sanitize
FOREIGN = arch cmd history host lib trace
OURS = $(addprefix $(BUILD)/tests/unit/history/test_,interval past)
FOREIGN_TESTS = $(filter-out $(OURS),\
	$(filter $(FOREIGN:%=$(BUILD)/tests/unit/%/%),$(TEST_PROGRAMS)))
LIMITED = $(patsubst %.c,$(BUILD)/%,$(shell grep -l ^LIMIT $(TEST_SOURCES)))
PLAIN_TESTS = $(filter-out $(if $(EVERY)$(SANITIZE),,$(filter-out $(LIMITED),$(FOREIGN_TESTS))),\
	$(TEST_PROGRAMS))
SANITIZED_TESTS = $(if $(SANITIZE),,$(patsubst $(BUILD)/%,$(SANITIZED)/%,\
	$(if $(EVERY),$(TEST_PROGRAMS),$(FOREIGN_TESTS)) $(SEEDS)))

# Tests of the tests, of the build and of packages: once they have passed they run again when one of
# these files changes.
TOOL_TESTS = $(addprefix tests/cli/,archive.t build.t harness.t hosts.t packages.t \
	shells.t static.t)
TOOL_FILES = Makefile packaging tests/alone tests/hosts tests/lib.sh tests/run tests/tools \
	tests/helpers/scripted.c $(STATIC_SOURCES) $(TOOL_TESTS)
TOOLS_PASSED = $(BUILD)/tests/tools-passed
TOOLS_CHANGED = $(eval TOOLS_CHANGED := $(or $(EVERY),$(shell find $(TOOL_FILES) \
	-newer $(TOOLS_PASSED) -print -quit 2>/dev/null || echo yes)))$(TOOLS_CHANGED)
UNCHANGED = $(if $(TESTS)$(TOOLS_CHANGED),,$(TOOL_TESTS))

# These look for minutes at what this machine's own KVM counts, and at what that costs: make
# check-live. make check has live.t, and make check-hosts exact counts of most of it.
LIVE_TESTS = $(addprefix tests/cli/,churn.t cost.t exits.t host.t query_stats.t record.t \
	strangers.t where.t who.t why.t)

# A test is a *.t, a file of tests/unit or a folder of them, or a program of theirs. The helpers of
# a *.t are the ones that it names, as $HELPERS/NAME or as a guest, and what tests/lib.sh starts.
CHOSEN_TESTS = $(if $(TESTS),$(foreach test,$(TESTS:%/=%),$(or \
	$(filter $(test:%.c=$(BUILD)/%) $(BUILD)/$(test)/%,$(TEST_PROGRAMS)),$(test))),\
	$(PLAIN_TESTS) $(SANITIZED_TESTS) $(filter-out $(UNCHANGED) $(LIVE_TESTS),$(SHELL_TESTS)))
CHOSEN_SHELL_TESTS = $(filter %.t,$(CHOSEN_TESTS))
NAMED_HELPERS = $(filter $(HELPERS:$(BUILD)/tests/helpers/%=%),\
	$(notdir $(shell grep -hoE 'HELPERS"?/[a-z_]+|[a-z]+guest' $(CHOSEN_SHELL_TESTS))))
NEEDED_HELPERS = $(if $(TESTS),$(sort $(addprefix $(BUILD)/tests/helpers/,miniguest scripted \
	$(NAMED_HELPERS))),$(HELPERS))
NEEDED = $(filter-out %.t $(SANITIZED)/%,$(CHOSEN_TESTS)) \
	$(if $(CHOSEN_SHELL_TESTS),all $(NEEDED_HELPERS))
NEEDED_SANITIZED = $(filter $(SANITIZED)/%,$(CHOSEN_TESTS))
.PHONY: built
built: # what make test runs
	@$(if $(strip $(NEEDED)),$(MAKE) $(NEEDED))
	@$(if $(NEEDED_SANITIZED),$(MAKE) SANITIZE=$(SANITIZERS) BUILD=$(SANITIZED) \
		$(NEEDED_SANITIZED))
test: built ## build and run tests, install nothing (TESTS="tests/cli/live.t tests/unit/lib ...")
	@touch $(TOOLS_PASSED).now
	@$(RUN_ENV) tests/run $(CHOSEN_TESTS)
	@$(if $(TESTS)$(UNCHANGED),,mv $(TOOLS_PASSED).now $(TOOLS_PASSED))
	@$(if $(UNCHANGED),echo "unchanged since they passed: $(UNCHANGED)")

check-live: ## run the tests that need this machine's own KVM for minutes
	@packaging/tools/mount-tracefs
	@$(MAKE) test TESTS="$(LIVE_TESTS)"

# Many times beside much else: what measures time that it does not have fails here. LIVE_TESTS count
# on the whole host, where these guests are, too.
check-busy: ## run the tests TIMES (10) times, at LOAD (8), while ten guests come and go
	@$(MAKE) built
	@$(RUN_ENV) tests/tools/busy $(or $(LOAD),8) \
		tests/run $(foreach time,$(shell seq $(or $(TIMES),10)),$(CHOSEN_TESTS))

check-quick: tests ## the tests that need no root, KVM or terminal, as packages run them
	@$(MAKE) all
	@$(RUN_ENV) tests/run $(TEST_PROGRAMS) \
		tests/cli/golden.t tests/cli/names.t

# Kernels of Debian's releases; svm has 6.1, too. Of the hosts the longest come first.
KERNELS = svm-bullseye svm-bookworm svm-trixie svm-sid
HOSTS ?= svm vmx arm64 svm-linux svm-symbols svm-service svm-lockdown svm-bullseye \
	svm-confidentiality svm-live
CHOSEN_HOSTS = $(HOSTS:kernels=$(KERNELS))
check-hosts: ## run a suite inside emulated KVM hosts (HOSTS="vmx svm kernels arm64 riscv64 ...")
	@packaging/tools/deps -q build test
	@$(MAKE) all tests
	@$(RUN_ENV) \
		tests/hosts/beside $(CHOSEN_HOSTS) -- tests/hosts/run $(CHOSEN_HOSTS)

deps: ## install what building and testing needs (DEPS="build test lint fuzz")
	@packaging/tools/deps $(or $(DEPS),build test)

# ---- for developers

check-headers: ## every header compiles alone
	@tests/tools/check-headers $(OUR_CPPFLAGS) $(CPPFLAGS) $(WARNINGS)

check-layers: ## nothing includes what its folder must not know
	@tests/tools/check-layers

check-style: ## tabs, blanks at ends of lines, 100 columns, SPDX lines
	@tests/tools/check-style

# One file a process, as many at once as there are CPUs.
EACH = printf '%s\n' $(EVERY_SOURCE) | xargs -P "$$(nproc)" -I {}
CHECK_FLAGS = $(OUR_CPPFLAGS) $(TEST_CPPFLAGS) $(CPPFLAGS)

# The build itself, where it has gcc and WERROR=1. clang's warnings are clang-tidy's, too.
LINT_BUILD = $(if $(filter gcc1,$(CC)$(WERROR)),$(BUILD),build/lint)
lint: check-style check-layers check-headers ## gcc and clang -Werror, clang-tidy, shellcheck ...
	@tests/tools/need gcc $(CLANG) $(CLANG_TIDY)
	@$(MAKE) BUILD=$(LINT_BUILD) $(if $(filter %/lint,$(LINT_BUILD)),CC=gcc) WERROR=1 objects
	$(call say,TIDY,"all sources")$(EACH) $(CLANG_TIDY) --quiet {} -- \
		-isystem $(LINT_BUILD) $(CHECK_FLAGS) $(WARNINGS) $(CLANG_WARNINGS) \
		2>$(LINT_BUILD)/tidy || { grep -v ' generated' $(LINT_BUILD)/tidy; exit 1; }
	@tests/tools/check-scripts
	@tests/tools/check-docs
	@echo "lint: clean"

# The program without its tests, which may leak memory when they fail. And without
# lib/error.c, which defines what tests/tools/analyze.h wraps.
ANALYZED = $(filter-out lib/error.c,$(SOURCES))
# gcc 12 loses track of memory that is stored in lists and returned with an error; clang does not.
NO_GCC_ANALYZE = malloc-leak null-argument null-dereference use-of-uninitialized-value

analyze: ## gcc -fanalyzer, cppcheck, clang --analyze
	@tests/tools/need gcc $(CLANG) cppcheck
	@$(MAKE) BUILD=build/analyze CC=gcc CFLAGS=-O1 WARNINGS= WERROR=1 \
		EXTRA_CFLAGS="-fanalyzer $(NO_GCC_ANALYZE:%=-Wno-analyzer-%) \
		-include tests/tools/analyze.h" $(ANALYZED:%.c=build/analyze/%.o)
	$(call say,CPPCHK,"all sources")cppcheck --quiet --enable=warning,performance,portability \
		--inline-suppr --suppressions-list=tests/tools/cppcheck.txt --error-exitcode=1 \
		--std=c11 --library=posix --library=gnu -D_GNU_SOURCE -D__x86_64__ \
		-D'HASH_ITER(hh,head,el,tmp)=for((el)=(head),(tmp)=NULL;el;(el)=(tmp))' \
		-DKVMTOP_VERSION='""' -I. -j "$$(nproc)" $(SOURCES)
	$(call say,ANALYZE,"all sources")printf '%s\n' $(if $(QUICK),,$(ANALYZED)) | \
		xargs -r -P "$$(nproc)" -I {} \
		$(CLANG) --analyze --analyzer-output text -Xclang -analyzer-werror -include \
		tests/tools/analyze.h -o /dev/null -isystem build/analyze $(CHECK_FLAGS) {}
	@echo "analyze: clean"

fuzz: ## run every tests/fuzz/fuzz_*.c for FUZZ_TIME seconds (make check: their seeds alone)
	@tests/tools/need $(CLANG)
	@$(MAKE) BUILD=build/fuzz CC=$(CLANG) SANITIZE=address,undefined \
		EXTRA_CFLAGS=-fsanitize=fuzzer-no-link $(FUZZERS:$(BUILD)/%=build/fuzz/%)
	@FUZZ_TIME=$(FUZZ_TIME) tests/tools/fuzz $(FUZZ_SOURCES:%.c=build/fuzz/%)

FOLDER_TESTS = $(filter $(BUILD)/tests/unit/$(FOLDER:%/=%)/%,$(TEST_PROGRAMS))
mutate: $(LIB) $(FOLDER_TESTS) ## list what no unit test notices (FOLDER=core/views N=40 SEED=1)
	@COMPILER=$(call quote,$(CC)) LINKER=$(call quote,$(LINK)) BUILD=$(BUILD) \
		COMPILE_FLAGS=$(call quote,$(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS)) \
		TEST_FLAGS=$(call quote,$(TEST_CPPFLAGS)) \
		LINK_FLAGS=$(call quote,$(TEST_LDLIBS) $(LINK_LIBS)) \
		tests/tools/mutate $(call quote,$(FOLDER)) $(N) $(SEED)

bench: all $(HELPERS) $(BENCHES) ## measure what kvmtop costs (tests/bench/run)
	@$(RUN_ENV) BUILD=$(BUILD) tests/bench/run

pictures: all $(HELPERS) ## make the pictures in README.md and docs/ anew (needs tmux)
	@$(RUN_ENV) tests/tools/pictures

# ---- packaging

# GNU's names.
prefix = $(or $(PREFIX),/usr/local)
exec_prefix = $(prefix)
bindir = $(exec_prefix)/bin
sbindir = $(exec_prefix)/sbin
datarootdir = $(prefix)/share
mandir = $(datarootdir)/man
unitdir = $(prefix)/lib/systemd/system
bashcompletiondir = $(datarootdir)/bash-completion/completions
zshcompletiondir = $(datarootdir)/zsh/site-functions
fishcompletiondir = $(datarootdir)/fish/vendor_completions.d

# What the tables say of --json, to programs. A program for another machine cannot be asked.
SCHEMA = $(BUILD)/kvmtop.schema.json
$(SCHEMA): $(PROGRAM)
	$(call say,GEN,$@)$(RUN_PROGRAM) --schema >$@
ASKED = $(if $(CROSS_COMPILE),,$(SCHEMA):$(datarootdir)/kvmtop/kvmtop.schema.json:644)

# from:to:mode, one list for both install and uninstall.
INSTALLED = $(PROGRAM):$(bindir)/kvmtop:755 \
	$(foreach page,$(wildcard man/*.[1-8]),\
		$(page):$(mandir)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)):644) \
	packaging/kvmtop-group:$(sbindir)/kvmtop-group:755 \
	packaging/completion/kvmtop.bash:$(bashcompletiondir)/kvmtop:644 \
	packaging/completion/_kvmtop:$(zshcompletiondir)/_kvmtop:644 \
	packaging/completion/kvmtop.fish:$(fishcompletiondir)/kvmtop.fish:644 \
	packaging/systemd/kvmtop.service:$(unitdir)/kvmtop.service:644 \
	packaging/systemd/kvmtop-history.service:$(unitdir)/kvmtop-history.service:644 \
	packaging/systemd/kvmtop-prometheus.service:$(unitdir)/kvmtop-prometheus.service:644 \
	packaging/systemd/kvmtop-listen.service:$(unitdir)/kvmtop-listen.service:644 \
	packaging/systemd/kvmtop-listen.socket:$(unitdir)/kvmtop-listen.socket:644 \
	packaging/contrib/prometheus/kvmtop.rules.yml:$(datarootdir)/kvmtop/kvmtop.rules.yml:644 \
	packaging/contrib/grafana/kvmtop.json:$(datarootdir)/kvmtop/kvmtop.json:644 \
	packaging/contrib/vector/kvmtop.toml:$(datarootdir)/kvmtop/vector.toml:644 \
	packaging/contrib/telegraf/kvmtop.conf:$(datarootdir)/kvmtop/telegraf.conf:644 \
	$(ASKED)

split = $(word $(2),$(subst :, ,$(1)))

install: all $(if $(CROSS_COMPILE),,$(SCHEMA)) ## install below DESTDIR and prefix (/usr/local)
	$(Q)set -e; $(foreach item,$(INSTALLED),\
		install -D -m $(call split,$(item),3) $(call split,$(item),1) \
			"$(DESTDIR)$(call split,$(item),2)";) true
	$(Q)sed -i 's|/usr/bin/kvmtop|$(bindir)/kvmtop|' \
		"$(DESTDIR)$(sbindir)/kvmtop-group" \
		"$(DESTDIR)$(unitdir)/kvmtop.service" \
		"$(DESTDIR)$(unitdir)/kvmtop-history.service" \
		"$(DESTDIR)$(unitdir)/kvmtop-prometheus.service" \
		"$(DESTDIR)$(unitdir)/kvmtop-listen.service"
	$(Q)sed -i 's|/usr/local/share/kvmtop|$(datarootdir)/kvmtop|' \
		"$(DESTDIR)$(mandir)/man8/kvmtop.8" "$(DESTDIR)$(mandir)/man8/kvmtop-export.8"

# Folders that every system has, whoever made them; DESTDIR has only ours.
STANDARD = $(if $(DESTDIR),,*/bin|*/sbin|*/lib|*/share|*/man|)
uninstall: ## remove what install put there
	$(Q)rm -f $(foreach item,$(INSTALLED),"$(DESTDIR)$(call split,$(item),2)")
	$(Q)for folder in $(sort $(foreach item,$(INSTALLED),$(dir $(call split,$(item),2)))); do \
		folder=$${folder%/}; \
		while case $$folder in $(STANDARD)"") false ;; esac && \
			rmdir "$(DESTDIR)$$folder" 2>/dev/null; do folder=$${folder%/*}; done; \
	done

# The same commit makes the same bytes: git sorts the files, gives them to root, and dates them to
# the commit. The skeletons are made from the commit's sources.
DIST = kvmtop-$(VERSION).tar.gz
DIST_TREE = $(BUILD)/dist
add_skeleton = --prefix=kvmtop-$(VERSION)/$(dir $(1)) \
	--add-file=$(DIST_TREE)/$(1:%.bpf.c=%.le.skel.h)
dist: ## write kvmtop-VERSION.tar.gz from the commit; it builds without git, clang and bpftool
	@git ls-files --error-unmatch Makefile >/dev/null 2>&1 || \
		{ echo "make $@: the tarball is of a git commit, and here is none" >&2; exit 1; }
	@for need in $(BPF_CLANG) $(BPFTOOL); do command -v $$need >/dev/null || \
		{ echo "make $@: $$need missing, which makes BPF programs: run \`make deps\`" \
			>&2; exit 1; }; done
	@$(make_folder)
	@rm -rf $(DIST_TREE) && mkdir -p $(DIST_TREE) && git archive HEAD | tar x -C $(DIST_TREE)
	@$(MAKE) -s -C $(DIST_TREE) BUILD=build skeletons
	@cd $(DIST_TREE) && for source in $(BPF_SOURCES:.bpf.c=); do \
		cp build/$$source.skel.h $$source.le.skel.h; done
	$(call say,DIST,$(DIST))git -c tar.umask=022 -c tar.tar.gz.command="gzip -9n" archive \
		--format=tar.gz $(foreach source,$(BPF_SOURCES),$(call add_skeleton,$(source))) \
		--prefix=kvmtop-$(VERSION)/ -o $(DIST) HEAD

# Of the commit, too; what is not committed is not in them.
PACKAGES = $(BUILD)/packages
deb rpm pkg: dist
	$(call say,PACKAGE,$@)packaging/tools/package $@ $(DIST) $(PACKAGES)
deb: ## build a Debian package in build/packages
rpm: ## build an RPM there
pkg: ## build a package for Arch there

KINDS ?= deb rpm pkg
check-packages: all dist ## try packages in a fresh Debian (root, network; KINDS="deb rpm pkg")
	@rm -rf $(PACKAGES)
	@for kind in $(KINDS); do \
		DEB_BUILD_OPTIONS=nocheck packaging/tools/package $$kind $(DIST) $(PACKAGES) || \
		[ $$? = 77 ] || exit 1; done
	@$(RUN_ENV) PACKAGES=$(PACKAGES) TEST_TIMEOUT=900 \
		tests/run tests/packages.t

CHECKS ?= check check-live check-hosts check-packages lint analyze fuzz
RELEASE_HOSTS = $(HOSTS) svm-other vmx-other vmx-pml arm64-other arm64-symbols svm-sid svm-trixie \
	svm-fleet
release: ## CHECKS, then tarball, packages, static program, SPDX, notes, checksums in build/release
	@EVERY=1 HOSTS="$(RELEASE_HOSTS)" ROUNDS=12 HOMEPAGE=$(HOMEPAGE) \
		packaging/tools/release $(VERSION) \
		$(BUILD)/release $(CHECKS)

clean: ## remove all that was built
	rm -rf build kvmtop $(DIST) tests/formats tests/sysroot/*/

help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile
