# SPDX-License-Identifier: MIT
# `make help` lists the targets. Everything that is built goes to $(O).

O       ?= build$(if $(DEBUG),/debug)
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
VERSION := 0.1.0
# The number changes when programs that were linked with the library no longer work with it.
SONAME  := liballocprof.so.0

CC    ?= gcc
CXX   ?= g++
CLANG ?= clang
STRIP ?= llvm-strip
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)

# V=1 shows the commands. DEBUG=1 adds assertions, DEBUG=full checks every list at every step.
# PROBES=0 builds the allocator without its probes. WERROR=1 makes warnings fatal (CI).
Q      := $(if $(filter 1,$(V)),,@)
msg     = $(if $(filter 1,$(V)),,@printf '  %-8s %s\n' '$(1)' '$(patsubst $(CURDIR)/%,%,$(2))';)
PROBES ?= 1
# What makes everything from nothing uses all cores, unless it is told how many.
JOBS    = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc)) $(if $(Q),-s)

WARN   := -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter \
          $(if $(filter 1,$(WERROR)),-Werror)
COMMON := -g -std=gnu11 -Iinclude -MMD -MP $(WARN) -DAP_VERSION='"$(VERSION)"'
OPT    ?= -O2
# A sanitizer has a malloc of its own, which ours must not replace. With APART=1 the functions that
# liballocprof.a has are called __wrap_malloc and so on, and only the tests' own calls go to them.
apart := $(if $(APART),$(filter-out allocprof_% dlopen __register_atfork,$(shell \
	sed -n '/global:/,/local:/s/;/ /gp' alloc/liballocprof.map)))
debug_level := $(if $(DEBUG),$(if $(filter full,$(DEBUG)),2,1),0)

# The allocator has frame pointers, so that any unwinder gets through it, but not in leaf
# functions: its fast paths are leaves. It calls no memcpy of its own making in malloc, hence
# -fno-builtin-malloc: gcc must not turn malloc + memset in calloc into calloc.
ALLOC_CFLAGS := $(COMMON) $(OPT) -fPIC -fvisibility=hidden -fno-omit-frame-pointer \
	-momit-leaf-frame-pointer -ftls-model=initial-exec -fno-builtin-malloc -fno-builtin-calloc \
	-fno-semantic-interposition -fno-stack-protector -DAP_PROBES=$(PROBES) \
	-DAP_DEBUG=$(debug_level) $(SANITIZE) $(CFLAGS)
LOADER_CFLAGS := $(COMMON) $(OPT) -I$(O)/bpf -I$(O)/loader -Iloader -D_GNU_SOURCE \
	-fno-omit-frame-pointer $(SANITIZE) $(CFLAGS)
LOADER_LIBS := -lbpf -ldw -lelf -lprotobuf-c -liberty -lz -lncursesw -ltinfo -lpthread -ldl -lm
BPF_CFLAGS := -g -O2 -target bpf -mcpu=v3 -Wall -Wno-unused-function $(if $(filter 1,$(WERROR)),-Werror) \
	-Iinclude -Ivmlinux -D__TARGET_ARCH_x86 -MMD -MP

alloc_src  := $(wildcard alloc/*.c)
alloc_obj  := $(alloc_src:%.c=$(O)/%.o)
# Not what hands on to libc's function of the same name: a static program has no other one.
alloc_archived := $(filter-out $(O)/alloc/dlopen.o $(O)/alloc/register_atfork.o,$(alloc_obj))
loader_src := $(wildcard loader/*.c)
loader_obj := $(loader_src:%.c=$(O)/%.o)
loader_lib := $(filter-out $(O)/loader/main.o,$(loader_obj))
bpf_src    := $(wildcard bpf/*.bpf.c)
skeletons  := $(bpf_src:%.bpf.c=$(O)/%.skel.h)
protos     := $(wildcard loader/*.proto)
proto_src  := $(protos:%.proto=$(O)/%.pb-c.c)
proto_obj  := $(proto_src:%.c=%.o)
# Files that are embedded in the loader as C arrays: the flame graph's page, style and script.
embedded   := $(wildcard loader/*.html loader/*.css loader/*.js)
embed_hdr  := $(embedded:%=$(O)/%.h)

unit_tests  := $(patsubst %.c,$(O)/%,$(wildcard tests/unit/test_*.c))
alloc_tests := $(patsubst %.c,$(O)/%,$(wildcard tests/alloc/test_*.c))
pages       := $(patsubst %.c,$(O)/%,$(wildcard tests/browser/*.c))
fuzzers     := $(patsubst %.c,$(O)/%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz_runs   := $(patsubst tests/fuzz/fuzz_%.c,fuzz-%,$(wildcard tests/fuzz/fuzz_*.c))
SECONDS     ?= 60
programs    := $(patsubst %.c,$(O)/%,$(wildcard tests/programs/*.c)) \
               $(patsubst %.cc,$(O)/%,$(wildcard tests/programs/*.cc))
tsan_tests  := alloc/test_stress alloc/test_threads alloc/test_thread_end
space       := $(subst ,, )
man_pages   := $(wildcard loader/*.[1-8] alloc/*.[1-8])
completions := bash-completion/completions/allocprof zsh/site-functions/_allocprof \
               fish/vendor_completions.d/allocprof.fish
man_path     = $(DESTDIR)$(PREFIX)/share/man/man$(patsubst .%,%,$(suffix $(1)))/$(notdir $(1))
benches     := $(patsubst %.c,$(O)/%,$(wildcard bench/*.c))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all alloc deps demo pictures check check-alloc check-unit check-integration check-kernels lint format asan ubsan tsan \
	units alloc-tests bench bench-symbols bench-unwind overhead accidents soak fuzz fuzzers coverage test-programs install uninstall deb clean help \
	compile_commands.json $(fuzz_runs)

all: alloc $(O)/allocprof  ## build the allocator and the profiler (the default)
alloc: $(O)/liballocprof.so $(O)/liballocprof.a  ## build the allocator alone: needs a C compiler only

# --- the allocator

$(O)/alloc/%.o: alloc/%.c
	$(call msg,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLOC_CFLAGS) -c -o $@ $<

# It must jump to libc's, whatever the build is for.
$(O)/alloc/dlopen.o: ALLOC_CFLAGS += -O2 -foptimize-sibling-calls
# The fast paths begin with a cache line, so that they take as few as they can, in every build.
$(O)/alloc/malloc.o $(O)/alloc/operators.o: ALLOC_CFLAGS += -falign-functions=64

# nodelete: threads that have used it call its destructor when they end, loaded or not.
# noseparate-code: two mappings less, which is a third of what loading the library costs a process.
$(O)/liballocprof.so: $(alloc_obj) alloc/liballocprof.map
	$(call msg,LD,$@)
	$(Q)$(CC) $(OPT) $(SANITIZE) -shared -Wl,-soname,$(SONAME) -Wl,-z,now -Wl,-z,relro \
		-Wl,-z,nodelete -Wl,-z,noseparate-code -Wl,--version-script=alloc/liballocprof.map \
		-o $@ $(alloc_obj)
	$(Q)ln -sf $(@F) $(@D)/$(SONAME)

$(O)/liballocprof.a: $(alloc_archived)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(alloc_archived)
	$(if $(apart),$(Q)objcopy $(foreach name,$(apart),--redefine-sym $(name)=__wrap_$(name)) $@)

# --- the BPF programs

$(O)/bpf/%.bpf.o: bpf/%.bpf.c
	$(call msg,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c -o $@.tmp $< -MF $(@:.o=.d) -MT $@
	$(Q)$(STRIP) -g $@.tmp && mv $@.tmp $@

$(O)/bpf/%.skel.h: $(O)/bpf/%.bpf.o
	$(call msg,SKEL,$@)
	$(Q){ echo '/* NOLINTBEGIN */' && $(BPFTOOL) gen skeleton $< name $(subst -,_,$(notdir $*))_bpf && \
		echo '/* NOLINTEND */'; } > $@

# --- the loader

$(O)/loader/%.pb-c.c: loader/%.proto
	$(call msg,PROTO,$@)
	@mkdir -p $(@D)
	$(Q)protoc-c --proto_path=loader --c_out=$(@D) $<

$(O)/loader/%.pb-c.o: $(O)/loader/%.pb-c.c
	$(call msg,CC,$@)
	$(Q)$(CC) -g $(OPT) $(SANITIZE) -I$(O)/loader -c -o $@ $<

# A file as a C array: `static const unsigned char embedded_NAME[]` with dots and dashes turned to
# _, and its hash, which the flame graph's security policy names.
$(O)/loader/%.h: loader/%
	$(call msg,EMBED,$@)
	@mkdir -p $(@D)
	$(Q){ printf 'static const unsigned char embedded_%s[] = {\n' '$(subst .,_,$(subst -,_,$*))'; \
		od -An -v -tx1 $< | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'; echo '};'; \
		printf 'static const char embedded_%s_sha256[] = "%.64s";\n' '$(subst .,_,$(subst -,_,$*))' \
			"$$(sha256sum < $<)"; } > $@

$(O)/loader/%.o: loader/%.c | $(skeletons) $(proto_src) $(embed_hdr)
	$(call msg,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LOADER_CFLAGS) -c -o $@ $<

$(O)/allocprof: $(loader_obj) $(proto_obj)
	$(call msg,LD,$@)
	$(Q)$(CC) $(OPT) $(SANITIZE) -Wl,-z,now -Wl,-z,relro -o $@ $(loader_obj) $(proto_obj) $(LOADER_LIBS)

# --- tests and their programs

# What calls the loader's functions. Takes more flags, and more libraries.
with_loader = $(Q)$(CC) $(LOADER_CFLAGS) $(1) -o $@ $< $(loader_lib) $(proto_obj) $(2) $(LOADER_LIBS)

# Unit tests see the loader's functions; allocator tests are linked with the static allocator.
$(O)/tests/unit/%: tests/unit/%.c $(loader_lib) $(proto_obj) $(wildcard tests/unit/*.h)
	$(call msg,TEST,$@)
	@mkdir -p $(@D)
	$(call with_loader,,-lcmocka)

# What writes the pages that the browser tests open.
$(O)/tests/browser/%: tests/browser/%.c $(loader_lib) $(proto_obj)
	$(call msg,TEST,$@)
	@mkdir -p $(@D)
	$(call with_loader)

$(O)/tests/alloc/test_sampling_%: with := tests/alloc/listener.c \
	-Wl,--wrap=ap_probe_alloc,--wrap=ap_probe_free
$(O)/tests/alloc/test_hugepage: with := \
	-Wl,--wrap=ap_os_huge,--wrap=ap_os_now,--wrap=ap_os_thread_time
$(O)/tests/alloc/%: tests/alloc/%.c $(O)/liballocprof.a $(wildcard tests/alloc/*.h tests/alloc/listener.c)
	$(call msg,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(COMMON) $(OPT) -Wno-unused-result -D_GNU_SOURCE -fno-builtin -Ialloc -DAP_PROBES=$(PROBES) \
		-DAP_DEBUG=$(debug_level) $(SANITIZE) $(CFLAGS) -o $@ $< $(with) $(O)/liballocprof.a \
		$(apart:%=-Wl,--wrap=%) -lcmocka -lpthread -lm

# Programs to be profiled: plain C and C++, no link with ours.
$(O)/tests/programs/%: tests/programs/%.c tests/programs/probes.h
	$(call msg,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -g -O1 -std=gnu11 -Iinclude -D_GNU_SOURCE -fno-omit-frame-pointer -fno-builtin \
		-fno-optimize-sibling-calls -o $@ $< -lpthread -ldl -lm
$(O)/tests/programs/%: tests/programs/%.cc
	$(call msg,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) -g -O1 -std=c++17 -Iinclude -fno-omit-frame-pointer -fno-builtin -fno-optimize-sibling-calls \
		-o $@ $< -lpthread

$(O)/bench/%: bench/%.c bench/random.h
	$(call msg,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -g -O2 -std=gnu11 -Iinclude -D_GNU_SOURCE -fno-builtin -o $@ $< -lpthread -lm

# It records itself, with the loader's functions.
$(O)/bench/unwind/%: bench/unwind/%.c $(loader_lib) $(proto_obj)
	$(call msg,CC,$@)
	@mkdir -p $(@D)
	$(call with_loader,-fomit-frame-pointer -fno-optimize-sibling-calls)

$(O)/bench/symbols/symbols: bench/symbols/symbols.c $(loader_lib) $(proto_obj)
	$(call msg,CC,$@)
	@mkdir -p $(@D)
	$(call with_loader)

# A library of 300,000 lines of C++.
symbols_units := $(foreach unit,1 2 3 4 5 6 7 8 9 10 11 12 13 14 15,$(O)/bench/symbols/unit$(unit).o)
$(O)/bench/symbols/unit%.o: bench/symbols/program.awk
	$(call msg,CXX,$@)
	@mkdir -p $(@D)
	$(Q)awk -v unit=$* -v functions=1700 -f $< | $(CXX) -x c++ -std=c++17 -O1 -g1 -fPIC -c -o $@ -
$(O)/bench/symbols/program.so: $(symbols_units)
	$(call msg,LD,$@)
	$(Q)$(CXX) -shared -o $@ $^

deps:  ## install what building and testing needs (Debian, root)
	$(Q).ci/deps build check

demo:  ## profile a live redis-server: installs, builds, attaches, prints where the pictures are
	$(Q).ci/deps build demo
	$(Q)$(MAKE) --no-print-directory $(JOBS) all
	$(Q)O=$(O) tests/demo.sh

pictures:  ## the README's pictures, recorded anew: tests/data/*.png
	$(Q).ci/deps build pictures
	$(Q)$(MAKE) --no-print-directory $(JOBS) all $(O)/tests/programs/leaking_service
	$(Q)O=$(O) tests/pictures.sh

check:  ## install what the tests need, build, run every test
	$(Q).ci/deps build check
	$(Q)$(MAKE) --no-print-directory $(JOBS) all test-programs
	$(Q)O=$(O) tests/run.sh unit alloc integration

check-unit: all $(unit_tests)  ## the loader's unit tests alone
	$(Q)O=$(O) tests/run.sh unit
check-alloc: alloc $(alloc_tests) $(programs)  ## the allocator's tests alone
	$(Q)O=$(O) tests/run.sh alloc
check-integration: all $(programs) $(pages)  ## whole programs, as root
	$(Q)O=$(O) tests/run.sh integration

accidents: all $(programs)  ## SIGKILL loader, target or both at a random moment, ROUNDS (1000) times
	$(Q)O=$(O) ROUNDS=$(or $(ROUNDS),1000) TEST_TIMEOUT=86400 ONLY='^integration/accidents$$' \
		tests/run.sh integration
	$(Q)grep : $(O)/test-logs/integration_accidents.log | grep -v ' Killed '

soak: all $(programs)  ## attach and detach for MINUTES (30), to redis and others, and look for growth
	$(Q).ci/deps build demo
	$(Q)O=$(O) tests/soak.py $(or $(MINUTES),30)

KERNELS ?= 5.10 6.1 6.12 6.18 7
check-kernels:  ## run tests under other kernels in qemu; takes KERNELS="5.10 6.1 ..." TESTS=REGEX LIMIT=SECONDS
	$(Q).ci/deps build check kernels
	$(Q)$(MAKE) --no-print-directory $(JOBS) all $(O)/tests/unit/test_session $(programs)
	$(Q)O=$(O) tests/kernels.sh $(KERNELS)

# What is not installed is named and left out.
bench:  ## compare with other allocators; takes WORKLOADS=REGEX ROUNDS=N SCALE=N PEERS="NAME=PATH ..."
	$(Q).ci/deps bench || echo 'bench: going on with what there is' >&2
	$(Q)$(MAKE) --no-print-directory alloc $(benches)
	$(Q)O=$(O) bench/run.py
	$(Q)O=$(O) bench/instructions.sh
	$(Q)O=$(O) bench/startup.sh

overhead:  ## what the probes cost, idle and recording; takes PARTS=REGEX PROFILERS=REGEX ROUNDS=N SCALE=N
	$(Q).ci/deps build bench || echo 'overhead: going on with what there is' >&2
	$(Q)$(MAKE) --no-print-directory all $(benches)
	$(Q)$(MAKE) --no-print-directory PROBES=0 O=$(O)/noprobes alloc
	$(Q)O=$(O) bench/overhead.py

# The allocator's tests under TSan are those of threads: it cannot follow a fork of a threaded
# process. ASan's shadow lies where the region does. UBSan needs memory that test_limits denies it.
asan:  ## the loader's unit tests with AddressSanitizer
	$(Q)$(MAKE) --no-print-directory $(JOBS) O=$(O)/asan OPT=-O1 SANITIZE=-fsanitize=address units
	$(Q)O=$(O)/asan tests/run.sh unit
ubsan:  ## unit tests and the allocator's tests with UndefinedBehaviorSanitizer
	$(Q)$(MAKE) --no-print-directory $(JOBS) O=$(O)/ubsan OPT=-O1 \
		SANITIZE='-fsanitize=undefined -fno-sanitize-recover=all' units alloc-tests
	$(Q)O=$(O)/ubsan ONLY='unit/test_|alloc/test_[^l]' tests/run.sh unit alloc
tsan:  ## the allocator's tests of threads with ThreadSanitizer
	$(Q)$(MAKE) --no-print-directory $(JOBS) O=$(O)/tsan OPT=-O1 SANITIZE=-fsanitize=thread APART=1 \
		$(tsan_tests:%=$(O)/tsan/tests/%)
	$(Q)O=$(O)/tsan ONLY='$(subst $(space),|,$(tsan_tests))' tests/run.sh alloc

bench-unwind: all $(O)/bench/unwind/unwind  ## the cost of a sample with a stack of 30 frames, as root
	$(Q)$(O)/bench/unwind/unwind

# FILE=PATH is another one.
bench-symbols: $(O)/bench/symbols/symbols $(if $(FILE),,$(O)/bench/symbols/program.so)  ## the time to symbolize 100,000 addresses of a large C++ library
	$(Q)$(O)/bench/symbols/symbols $(or $(FILE),$(O)/bench/symbols/program.so)

# Each tests/fuzz/fuzz_NAME.c starts from what is in tests/fuzz/NAME; what it finds is in $(O)/fuzz.
fuzz:  ## run each fuzz target for SECONDS (60), one a core; ONLY=NAME runs one
	$(Q).ci/deps build fuzz
	$(Q)$(MAKE) --no-print-directory $(JOBS) O=$(O)/fuzz OPT=-O1 CC=$(CLANG) \
		SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all' fuzzers
	$(Q)$(MAKE) --no-print-directory $(JOBS) --output-sync $(filter fuzz-$(or $(ONLY),%),$(fuzz_runs))
$(fuzz_runs): fuzz-%:
	$(Q)mkdir -p $(O)/fuzz/corpus/$*
	$(Q)cd $(O)/fuzz && ./tests/fuzz/fuzz_$* -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=1024 \
		-print_final_stats=1 corpus/$* $(CURDIR)/tests/fuzz/$*
fuzzers: $(fuzzers)
$(O)/tests/fuzz/%: tests/fuzz/%.c $(loader_lib) $(proto_obj)
	$(call msg,FUZZ,$@)
	@mkdir -p $(@D)
	$(call with_loader,-fsanitize=fuzzer)
units: $(unit_tests)
alloc-tests: $(alloc_tests)

# Whatever can be compiled, as make would do it now.
compile_commands.json: $(skeletons) $(proto_src) $(embed_hdr)  ## for clang-tidy and editors
	$(call msg,GEN,$@)
	$(Q)$(MAKE) --no-print-directory -nB V=1 all $(unit_tests) $(alloc_tests) $(programs) $(pages) $(benches) \
		| awk -v dir=$(CURDIR) -f .ci/compile-commands > $@

lint:  ## clang-format, clang-tidy, cppcheck, shellcheck, node --check
	$(Q).ci/deps build check lint
	$(Q)$(MAKE) --no-print-directory compile_commands.json
	$(Q).ci/lint

format:  ## format every source with clang-format
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h' '*.cc' ':!vmlinux')

# Not test_limits, fastpath and linking, which what gcov adds to the code makes fail. Some of those
# who write counts are no longer root. __gcov_dump is for the children of tests that are meant to die.
coverage:  ## lines of alloc/ and loader/ that all tests reach, or ONLY=PATTERN: $(O)/coverage/summary.txt
	$(Q).ci/deps build check
	$(Q)$(MAKE) --no-print-directory $(JOBS) O=$(O)/coverage OPT=-O0 \
		SANITIZE='--coverage -fprofile-update=atomic -Wl,-u,__gcov_dump' all test-programs
	$(Q)find $(O)/coverage -name '*.gcda' -delete
	$(Q)find $(O)/coverage -type d -exec chmod a+rwx {} +
	-$(Q)O=$(O)/coverage TEST_TIMEOUT=600 \
		ONLY='$(or $(ONLY),unit/|integration/|alloc/(test_[^l]|[^tfl]))' tests/run.sh unit alloc integration
	$(Q)gcov -n -r -s $(CURDIR) $(O)/coverage/alloc/*.gcda $(O)/coverage/loader/*.gcda 2>/dev/null \
		| awk -f .ci/coverage | sort -n | tee $(O)/coverage/summary.txt
test-programs: $(unit_tests) $(alloc_tests) $(programs) $(pages)

install: all  ## install under $(DESTDIR)$(PREFIX)
	install -D -m 755 $(O)/allocprof $(DESTDIR)$(PREFIX)/bin/allocprof
	install -D -m 755 $(O)/liballocprof.so $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/liballocprof.so
	install -D -m 644 $(O)/liballocprof.a $(DESTDIR)$(LIBDIR)/liballocprof.a
	install -D -m 644 include/allocprof/probe.h $(DESTDIR)$(PREFIX)/include/allocprof/probe.h
	install -D -m 644 loader/allocprof@.service $(DESTDIR)$(PREFIX)/lib/systemd/system/allocprof@.service
	$(foreach page,$(man_pages),install -D -m 644 $(page) $(call man_path,$(page)) &&) true
	$(foreach file,$(completions),$(O)/allocprof completion $(patsubst %-completion,%,$(firstword \
		$(subst /, ,$(file)))) | install -D -m 644 /dev/stdin $(DESTDIR)$(PREFIX)/share/$(file) &&) true

uninstall:  ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/allocprof $(DESTDIR)$(LIBDIR)/liballocprof.so $(DESTDIR)$(LIBDIR)/$(SONAME) \
		$(DESTDIR)$(PREFIX)/lib/systemd/system/allocprof@.service \
		$(DESTDIR)$(LIBDIR)/liballocprof.a $(DESTDIR)$(PREFIX)/include/allocprof/probe.h \
		$(foreach page,$(man_pages),$(call man_path,$(page))) \
		$(completions:%=$(DESTDIR)$(PREFIX)/share/%)

deb:  ## Debian packages in $(O)/deb, checked by lintian and tried in a chroot
	$(Q).ci/deps build deb
	$(Q)$(MAKE) --no-print-directory $(JOBS) all
	$(Q)O=$(O) VERSION=$(VERSION) .debian/build
	$(Q)O=$(O) tests/deb.sh

clean:  ## remove what was built
	rm -rf $(O) compile_commands.json

help:  ## this list
	@sed -n 's/^\([a-z][a-z_.-]*\):.*  ## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

-include $(alloc_obj:.o=.d) $(loader_obj:.o=.d) $(bpf_src:%.bpf.c=$(O)/%.bpf.d)
