# deps          installs with apt what the verbs need, or says what to install; each verb looks for its share
# build         the library and its tests
# test          the whole suite, and each snippet of the documentation
# test-release  the suite as the optimizer leaves it
# run           the echo server, in release: make run ARGS='--port 0'
# check         format, walls between the rooms, warnings, code that must not compile or must warn
# sanitize      the suite under the address and the thread sanitizer, and the proof that a leak is found
# repeat        the suite N times, up to the first failure: make repeat N=20
# test-newest   the suite on the libuv that PyPI's uvloop carries: make test-newest UVLOOP=0.22.1 LIBUV=1.48.0
# soak          the full sizes, in release
# examples      builds each example, then uses it as a client would
# bench         figures beside those of the peers
# guard         holds allocations and instructions per map
# docs          the documentation of every module, into .build-docs
# mutants       breaks the core one line at a time, the suite has to notice: make mutants ONLY='a timer'
# clean         removes everything that was built

# The linker that comes with the toolchain.
FLAGS = -Xswiftc -use-ld=lld
NEEDS = @Tests/Checks/deps.sh libuv1-dev pkg-config
N = 20
UVLOOP = 0.23.0
LIBUV = 1.52.1

.PHONY: help deps build test test-release run check sanitize repeat test-newest soak
.PHONY: examples bench guard docs mutants clean

help:
	@sed -n '/^$$/q;s/^# //p' Makefile

deps:
	$(NEEDS) git socat netcat-openbsd strace valgrind binutils jq python3-pip

build:
	$(NEEDS)
	swift build --build-tests $(FLAGS)

test:
	$(NEEDS)
	swift test $(FLAGS)
	Tests/Checks/snippets.sh .build/debug/Modules

test-release:
	$(NEEDS)
	swift test -c release $(FLAGS)

run:
	$(NEEDS) git
	swift run -c release --package-path Examples $(FLAGS) EchoServer $(ARGS)

check:
	$(NEEDS) git
	swift format lint --strict --parallel --recursive Package.swift Sources Tests Examples
	Tests/Checks/rooms.sh
	Tests/Checks/words.sh
	swift build --build-tests --scratch-path .build-check $(FLAGS) -Xswiftc -warnings-as-errors
	Tests/Checks/fixtures.sh .build-check/debug/Modules

sanitize:
	$(NEEDS)
	Tests/Checks/sanitize.sh $(FLAGS)

repeat: build
	for i in $$(seq $(N)); do echo "run $$i of $(N)"; swift test --skip-build $(FLAGS) || exit 1; done

test-newest:
	$(NEEDS) python3-pip
	Tests/Checks/test-newest.sh $(UVLOOP) $(LIBUV) $(FLAGS)

soak:
	$(NEEDS) git
	SOAK=1 swift test -c release $(FLAGS)
	swift build -c release --package-path Examples $(FLAGS)
	Tests/Checks/soak.sh

examples:
	$(NEEDS) git socat netcat-openbsd strace
	swift build -c release --package-path Examples $(FLAGS)
	Tests/Checks/examples.sh

bench:
	$(NEEDS) git jq valgrind binutils
	Tests/Benchmarks/run.sh
	Tests/Benchmarks/instructions.sh

guard:
	$(NEEDS) git valgrind binutils
	Tests/Benchmarks/guard.sh

docs:
	$(NEEDS)
	Tests/Checks/docs.sh $(FLAGS)

mutants:
	$(NEEDS) git
	Tests/Mutants/run.sh '$(ONLY)'

clean:
	rm -rf .build* Examples/.build* Tests/Benchmarks/.build* Tests/Benchmarks/Peers/*/.build*
