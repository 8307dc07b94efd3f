# deps          installs with apt what the verbs need, or says what to install; each verb looks for its share
# build         the library and its tests
# test          the whole suite, and each snippet of the documentation
# test-release  the suite as the optimizer leaves it
# ahead         what later verbs build in release: CI does it while the suite runs, which leaves a part of the processors
# run           the echo server, in release: make run ARGS='--port 0'; or another one: make run PROGRAM=WebServer
# lint          format, walls between the rooms, the dictionary, the mutants' places: in less than a minute
# check         lint, warnings, code that must not compile or must warn, 20,000 random programs beside the kernel
# sanitize      the suite under the address and the thread sanitizer, and the proof that a leak is found; in CI the first
#               on the libuv of test-newest, and the second without what lives on one thread
# repeat        the suite N times, up to the first failure: make repeat N=20
# test-newest   the suite on the libuv that PyPI's uvloop carries: make test-newest UVLOOP=0.22.1 LIBUV=1.48.0
# soak          the full sizes, in release
# examples      builds each example, then uses it as a client would
# hosts         lets a C program, Node.js, Python's uvloop, Lua and Neovim use the library on their loops
# bench         figures beside those of the peers, in half an hour; bench-quick takes less of each. Of one topic:
#               make bench TOPIC=asynchronous, datagrams, processes, files, tls or programs
# guard         holds allocations and instructions per operation, groups to time in proportion to their size, and loops
#               to share nothing that they write
# api           writes the public surface to Tests/Checks/api.txt, which check holds the sources against
# docs          the documentation of every module, into .build-docs
# docs-serve    the same, served to this machine's browser: make docs-serve PORT=8080
# mutants       breaks the library one line at a time, the suite has to notice: make mutants ONLY='a timer', or those that
#               are drawn from all lines: make mutants SEED=7 COUNT=100
# release-check tries a release before its tag is there: make release-check VERSION=0.1.0
# clean         removes everything that was built

# The linker that comes with the toolchain.
FLAGS = -Xswiftc -use-ld=lld
# Tests and an example find out when code that is isolated to an actor runs elsewhere.
CHECKED = $(FLAGS) -Xswiftc -enable-actor-data-race-checks
# A warning of a newer toolchain fails nobody's tests. In CI it does, and so one debug build serves all that need one: that of
# the examples' tests, too, whose packages from elsewhere the compiler could not build if a flag made warnings errors.
STRICT_BUILD = $(if $(CI),.build,.build-check)
WITHOUT_WARNINGS = $(if $(CI),Tests/Checks/without-warnings.sh)
SHARED = $(if $(CI),--scratch-path .build)
# Nobody debugs in CI: without what a debugger wants, a debug build takes a tenth less time. Traps still name their lines.
BRIEF = $(if $(CI),-Xswiftc -gline-tables-only)
STRICT = $(CHECKED) $(BRIEF) $(if $(CI),,-Xswiftc -warnings-as-errors) --scratch-path $(STRICT_BUILD)
DEBUG = $(if $(CI),$(STRICT),$(CHECKED))
# SwiftPM makes one build at a time in a place: what is built ahead has its own.
RELEASE_BUILD = $(if $(CI),.build-release,.build)
RELEASE = $(FLAGS) $(BRIEF) --scratch-path $(RELEASE_BUILD)
# A release build whose tests see what is internal.
TESTABLE = -Xswiftc -enable-testing
# As packages have it that enable the feature.
NONSENDING = -enable-upcoming-feature NonisolatedNonsendingByDefault
ON_MAIN = -default-isolation MainActor
NEEDS = @Tests/Checks/deps.sh libuv1-dev libssl-dev pkg-config
# The programs with which the tests of TLSStreams speak.
PEERS = openssl curl python3 nodejs gnutls-bin
# What the resolver is held beside.
RESOLVERS = bind9-dnsutils python3-pycares python3-unbound
# What HTTP1 is held beside.
PARSERS = nodejs python3-h11
# What uses WebServer.
WEB = curl openssl nodejs apache2-utils wrk chromium python3-websockets
# Clients of the examples that measure nothing, and wait for most of their time.
SIDE_BY_SIDE = Examples/Checks/examples.sh Examples/Checks/testssl.sh Tests/Checks/resolvers.py Examples/Checks/names.sh \
	Examples/Checks/health.sh Examples/Checks/production.sh
HOSTS = nodejs libnode-dev python3-uvloop lua5.4 liblua5.4-dev lua-luv neovim libluajit-5.1-dev
N = 20
COUNT = 100
PROGRAM = EchoServer
UVLOOP = 0.23.0
LIBUV = 1.52.1

.PHONY: help deps build test test-release ahead run lint check sanitize repeat test-newest soak
.PHONY: examples hosts bench bench-quick guard api docs docs-serve mutants release-check clean

help:
	@sed -n '/^$$/q;s/^# //p' Makefile

deps:
	$(NEEDS) git socat netcat-openbsd strace systemd valgrind binutils python3-pip unbound $(RESOLVERS) $(PEERS) $(PARSERS) $(HOSTS) $(WEB)

build:
	$(NEEDS) $(PEERS)
	$(WITHOUT_WARNINGS) swift build --build-tests $(DEBUG)

test:
	$(NEEDS) $(PEERS)
	$(WITHOUT_WARNINGS) swift test $(DEBUG)
	Tests/Checks/snippets.sh .build/debug $(if $(CI),6)

test-release:
	$(NEEDS) $(PEERS)
	swift test -c release $(RELEASE)
	Tests/Checks/stale-objects.sh $(RELEASE_BUILD)/release
	Tests/Checks/programs.sh $(RELEASE_BUILD)/release Tests/Programs/Body 1 -O
	Tests/Checks/programs.sh $(RELEASE_BUILD)/release Tests/Programs/Body 1 -O $(NONSENDING)

ahead:
	$(NEEDS) git $(HOSTS)
	swift test list -c release $(RELEASE) >/dev/null
	swift build -c release --package-path Examples $(FLAGS)
	Examples/Checks/hosts.sh --build $(FLAGS)

run:
	$(NEEDS) git
	swift run -c release --package-path Examples $(FLAGS) $(PROGRAM) $(ARGS)

lint:
	$(NEEDS) git python3
	swift format lint --strict --parallel --recursive Package.swift Sources Tests Examples
	Tests/Checks/rooms.sh
	Tests/Checks/numbers.py
	Tests/Checks/walks.sh
	Tests/Checks/program-lines.py
	Tests/Checks/words.sh
	Tests/Checks/dictionary.sh
	Tests/Mutants/run.sh --find
	python3 Tests/Mutants/places.py
	Tests/Benchmarks/Runner/check.py

check: lint
	$(NEEDS) git python3 strace
	Tests/Checks/template.sh
	swift build --build-tests $(STRICT)
	Tests/Checks/stale-objects.sh $(STRICT_BUILD)/debug
	Tests/Checks/api.sh $(STRICT_BUILD)/debug/Modules
	Tests/Checks/openssl-names.sh $(STRICT_BUILD)/debug
	Tests/Checks/accesses.py $(STRICT_BUILD)/debug/Modules
	Tests/Checks/fixtures.sh $(STRICT_BUILD)/debug/Modules
	Tests/Checks/messages.sh $(STRICT_BUILD)/debug/Modules
	Tests/Checks/comments.py $(STRICT_BUILD)/debug/Modules
	Tests/Checks/programs.sh $(STRICT_BUILD)/debug Tests/Programs/MainActor 17
	Tests/Checks/programs.sh $(STRICT_BUILD)/debug Tests/Programs/Body 1
	Tests/Checks/programs.sh $(STRICT_BUILD)/debug Tests/Programs/Body 1 $(NONSENDING)
	Tests/Checks/programs.sh $(STRICT_BUILD)/debug Tests/Programs/Isolation 2
	SETTINGS=nonsending Tests/Checks/programs.sh $(STRICT_BUILD)/debug Tests/Programs/Isolation 2 $(NONSENDING)
	SETTINGS=main Tests/Checks/programs.sh $(STRICT_BUILD)/debug Tests/Programs/Isolation 2 $(ON_MAIN)
	SETTINGS=both Tests/Checks/programs.sh $(STRICT_BUILD)/debug Tests/Programs/Isolation 2 $(NONSENDING) $(ON_MAIN)
	SCENARIOS=20000 $(STRICT_BUILD)/debug/swift-uv-futuresPackageTests.xctest --testing-library swift-testing --filter AgreementTests
	Tests/Checks/quiet.sh $(STRICT_BUILD)/debug 1000
	Tests/Checks/replace.sh $(STRICT_BUILD)/debug
	Tests/Checks/shipper.py $(STRICT_BUILD)/debug 5
	Tests/Checks/old-kernels.sh $(STRICT_BUILD)/debug
	Tests/Checks/failing-calls.py $(STRICT_BUILD)/debug
	Tests/Checks/programs.sh $(STRICT_BUILD)/debug Tests/Programs/Guide 14
	Tests/Checks/programs.sh $(STRICT_BUILD)/debug Tests/Programs/Guide 14 $(NONSENDING)
	Tests/Checks/programs.sh $(STRICT_BUILD)/debug Tests/Programs/Guide 14 $(NONSENDING) $(ON_MAIN)

sanitize: build
	$(NEEDS) $(PEERS) $(if $(CI),python3-pip)
	Tests/Checks/sanitize.sh .build $(UVLOOP) $(LIBUV)

repeat: build
	for i in $$(seq $(N)); do echo "run $$i of $(N)"; swift test --skip-build $(DEBUG) || exit 1; done

test-newest:
	$(NEEDS) $(PEERS) python3-pip
	Tests/Checks/test-newest.sh $(UVLOOP) $(LIBUV) $(FLAGS) --scratch-path .build-libuv-$(LIBUV)/suite

soak:
	env -u CI $(MAKE) sanitize
	$(NEEDS) $(PEERS) git socat netcat-openbsd valgrind binutils strace redis-tools redis-server haproxy python3-redis python3-pip $(PARSERS) $(WEB)
	SOAK=1 swift test -c release $(FLAGS)
	Tests/Checks/foreign-bytes.sh $(FLAGS)
	Tests/Benchmarks/scaling.sh 100000
	SOAK=1 swift test -c release --package-path Examples $(FLAGS) $(TESTABLE) --filter "ReplicaTests|KeyValueLogTests|ChatWorldTests|PeerTests|MutationTests"
	Examples/Checks/keyvalue.sh 100
	Examples/Checks/chat.sh 500 600 60 2
	Examples/Checks/soak.sh
	Examples/Checks/web.sh 10000
	Examples/Checks/forward.sh 10G
	Examples/Checks/idle.sh
	Examples/Checks/slow.sh
	Examples/Checks/nio.sh $(FLAGS)
	Tests/Checks/shipping.sh
	Tests/Checks/shipping.sh sizes
	Tests/Checks/snippets.sh .build/release all
	Tests/Checks/quiet.sh .build/release 5000
	Tests/Checks/shipper.py .build/release 600
	Tests/Checks/failing-calls.py .build/release --all

examples:
	$(NEEDS) git socat netcat-openbsd strace systemd python3 unbound $(RESOLVERS) redis-tools redis-server haproxy python3-redis python3-pip $(PARSERS) $(WEB) testssl.sh
	swift build -c release --package-path Examples $(FLAGS)
	swift test --package-path Examples $(CHECKED) $(BRIEF) $(SHARED)
	swift run --package-path Examples/OpenCombineBridge $(CHECKED) $(BRIEF) $(SHARED)
	printf '%s\n' $(SIDE_BY_SIDE) | xargs -P 2 -I{} sh -c {}
	Examples/Checks/keyvalue.sh
	Examples/Checks/chat.sh
	Examples/Checks/idle.sh 1000
	Examples/Checks/slow.sh 200 500 2 0
	Examples/Checks/forward.sh 256M
	node Examples/Tests/HTTP1Tests/Corpus/llhttp.js --check
	Examples/Checks/web.sh 1000

hosts:
	$(NEEDS) git strace python3-pip $(HOSTS)
	Examples/Checks/hosts.sh $(FLAGS)

bench bench-quick: QUICK = $(if $(filter bench-quick,$@), --quick)
bench bench-quick:
	$(NEEDS) git valgrind binutils python3 $(if $(filter asynchronous,$(TOPIC)),cargo librust-tokio-dev golang-go) \
		$(if $(filter tls,$(TOPIC)),openssl nodejs) $(if $(filter programs,$(TOPIC)),redis-server redis-tools nodejs wrk)
	$(if $(TOPIC),Tests/Benchmarks/topic.sh$(QUICK) $(TOPIC),Tests/Benchmarks/run.sh$(QUICK))
	$(if $(TOPIC),,Tests/Benchmarks/loops.sh$(QUICK))

guard:
	$(NEEDS) git valgrind binutils
	Tests/Benchmarks/guard.sh
	Tests/Benchmarks/scaling.sh
	Tests/Benchmarks/sharing.sh

api:
	$(NEEDS) python3
	swift build --build-tests $(STRICT)
	Tests/Checks/api.sh $(STRICT_BUILD)/debug/Modules --write

docs:
	$(NEEDS) python3
	Tests/Checks/docs.sh $(DEBUG)

docs-serve: docs
	Tests/Checks/docs-serve.py .build-docs/UVFutures.doccarchive $(PORT)

mutants:
	$(NEEDS) git python3 $(PEERS)
	$(if $(SEED),Tests/Mutants/drawn.py $(SEED) $(COUNT),Tests/Mutants/run.sh '$(ONLY)')

release-check:
	$(NEEDS) git
	Tests/Checks/release.sh '$(VERSION)'

clean:
	rm -rf .build* Examples/.build* Examples/*/.build* Tests/Benchmarks/.build* Tests/Benchmarks/Peers/*/.build*
