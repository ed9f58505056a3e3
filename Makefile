# `make` alone lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

# quote is a text as one word of the shell.
quote = '$(subst ','\'',$(1))'

# With make GO=..., that version's gofmt, and its go in scripts and tests, are found first.
GOROOTBIN := $(if $(filter-out undefined,$(origin GO)),$(shell root=$$($(call quote,$(GO)) env GOROOT 2>/dev/null) && echo "$$root/bin:"))
# Go's usual directory need not be in PATH.
export PATH := $(GOROOTBIN)$(PATH):/usr/local/go/bin
# The directory may be in a workspace, which does not contain it.
export GOWORK := off

# $(GO) is only evaluated by targets that need it, so that `make` lists the targets without Go.
GO       ?= $(or $(shell PATH=$(call quote,$(PATH)) command -v go),$(error Go is not installed, or not in PATH: see https://go.dev/doc/install))
GOCMD     = $(call quote,$(GO))
EXE       = $(shell $(GOCMD) env GOEXE)
# The directory may be in another repository.
INREPO   := [ "$$(git rev-parse --show-toplevel 2>/dev/null)" -ef . ]
ifeq ($(VERSION),)
override VERSION = $(shell $(INREPO) && git describe --tags --match 'v[0-9]*' --always --dirty 2>/dev/null || echo dev)
endif
ifeq ($(COMMIT),)
override COMMIT = $(shell $(INREPO) && git rev-parse HEAD 2>/dev/null || echo unknown)
endif
STAMP    := -X github.com/bizhook/whd/cmd/internal/cli.version=$(VERSION) -X github.com/bizhook/whd/cmd/internal/cli.commit=$(COMMIT)
# Compilation takes an eighth less time without debug information, which -s -w removes
# anyway and tests do not use.
NODEBUG  := -gcflags=all=-dwarf=false
# The version is in STAMP; Go's own stamp fails in a repository of another user.
NOVCS    := -buildvcs=false
GOBUILD   = CGO_ENABLED=0 $(GOCMD) build -trimpath $(NODEBUG) $(NOVCS) -ldflags '-s -w $(STAMP)'

# Arguments of `make run` and of the test targets, for example
# make run ARGS='--listen :8080' or make test TESTFLAGS='-count=1 -v'.
ARGS      ?=
TESTFLAGS ?=
FUZZTIME  ?= 30s
PACKAGES  ?= ./...

.DEFAULT_GOAL := help
.PHONY: help build run test race check format vet lint cross modules goldens golden bench fuzz cover clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/whd and bin/whctl
	$(GOBUILD) -o bin/whd$(EXE) ./cmd/daemon
	$(GOBUILD) -o bin/whctl$(EXE) ./cmd/whctl

# The demo may send messages to this machine, including its own /Webhooks/Test.
run: build ## build, and serve demo records from ./.whd on http://127.0.0.1:5050
	exec bin/whd$(EXE) serve --demo --demo-activity --mcp-enabled --erp-kinds daemon/demo/kinds.toml,daemon/demo/extremes.toml --changes-sweep 10s --data-dir ./.whd --webhooks-allow-targets 127.0.0.0/8 --webhooks-host-url http://127.0.0.1:5050 $(ARGS)

# The settings of GOBUILD, so that builds inside tests reuse the build cache of go test.
# make check runs go vet. GOGC makes the compiler collect its garbage less often, which takes
# a tenth of its time; the largest package then needs 1 GB of memory.
TESTENV = CGO_ENABLED=0 GOGC=$(or $(GOGC),400) GOFLAGS=$(call quote,$(strip $(shell $(GOCMD) env GOFLAGS) -trimpath $(NODEBUG) $(NOVCS)))

# Many tests wait for timers, disks or processes, so twice as many packages are tested at
# the same time as there are processors.
TESTJOBS := $(shell echo $$((2 * $$(nproc 2>/dev/null || echo 2))))

test: ## run all tests except those of make clients and make test-root, offline
	$(TESTENV) $(GOCMD) test -vet=off -p $(TESTJOBS) -timeout 30m $(TESTFLAGS) $(PACKAGES)

.PHONY: clients
# The tests that run third-party programs, and their packages.
CLIENTPACKAGES := ./client/assistant ./cmd/whctl ./cmd/whctl/output ./daemon ./daemon/encode ./daemon/readmetest ./daemon/rest ./daemon/webhook/...
CLIENTTESTS    := InPython|InCSharp|CompletionIn|ServiceStackClient|BehindNginx|TypesCompileAndWork|VendorToolsAcceptTypes|SamplesWork|AbortedResponseWithCurl|AbortedCompressedResponseWithTools|FormsOfTools|ReferenceLibraryVerifies|DocumentedReceiversVerify|InLibreOffice|OpenAPIInTools|OpenAPIInGo|WaitForChallenge|ProtocolConformance|ProtocolClients|FeedsInTools|WorkbookInReaders|InBrowser

clients: ## run the tests that need installed third-party programs (Node.js, PHP, Mono, LibreOffice, shells, nginx, ...)
	$(TESTENV) WHD_TEST_CLIENTS=1 $(GOCMD) test -vet=off -count=1 -timeout 30m $(TESTFLAGS) -run '$(CLIENTTESTS)' $(CLIENTPACKAGES)

.PHONY: test-root
# The tests and packages of .ci/roottests.
ROOTTESTS    = $(shell awk '/^\.\// { print $$2 }' .ci/roottests | paste -sd '|')
ROOTPACKAGES = $(shell awk '/^\.\// { print $$1 }' .ci/roottests | sort -u)

test-root: ## run the tests that need root, in .ci/roottests, by sudo if necessary
	$(TESTENV) WHD_TEST_ROOT=1 $(GOCMD) test -vet=off -count=1 -v $(if $(filter-out 0,$(shell id -u)),-exec 'sudo env WHD_TEST_ROOT=1') -run '^($(ROOTTESTS))$$' $(TESTFLAGS) $(ROOTPACKAGES)

.PHONY: test-sqlserver
test-sqlserver: ## run the tests that need SQL Server; WHD_TEST_SQLSERVER_DSN is the connection string
	@test -n "$${WHD_TEST_SQLSERVER_DSN:-}" || { echo "WHD_TEST_SQLSERVER_DSN is not set; set it to a connection string such as sqlserver://user:password@host?database=master"; exit 1; }
	$(GOCMD) test -count=1 -timeout 30m -v $(TESTFLAGS) ./daemon ./daemon/crashtest ./daemon/changes/crashtest ./daemon/appdb ./daemon/mssql/... ./daemon/erp/... ./daemon/executor ./daemon/kinds/... ./daemon/storage ./daemon/storecopy ./daemon/prove ./daemon/importer ./daemon/rest ./daemon/requestlog/sqlstore ./daemon/webhook/sqlstore ./cmd/whctl | grep -v '^=== '

# Packages left out of make race:
#   daemon/readmetest                  runs shell commands with programs built without the detector
#   daemon/demo, client/xlsx, workbook start no goroutines
# SQLite and its C library are not instrumented: they are translated from C, would take ten
# times as long, and synchronize in ways that the detector does not recognize.
# RACELESSTESTS lists tests that measure memory or allocations, which the detector changes;
# that take minutes with it; and that end bubbletea on a terminal, since it closes the
# input after half a second even if its goroutine is still reading.
RACELESSTESTS := ^(TestEveryOperationByEveryName|TestMirrorSurvivesKills|TestMemoryOfExports|TestMemoryOfABody|TestTextDoesNotAllocate|TestFlagsAreAcceptedAnywhere|TestManyChangesPerSecond|TestReconnectAfterDaemonRestart|TestTerminalIsRestored)$$
# Flags of the compiler are in the environment, so that programs that tests build have the same,
# and need no other packages compiled.
RACEFLAGS = $(NODEBUG) $(NOVCS) '-gcflags=modernc.org/...=-race=false -dwarf=false'
RACEENV   = CGO_ENABLED=1 GOFLAGS=$(call quote,$(strip $(shell $(GOCMD) env GOFLAGS) $(RACEFLAGS)))
RACELESS := /daemon/readmetest$$|/daemon/demo$$|/client/xlsx$$|/client/workbook$$

race: ## run the tests with the race detector (needs a C compiler)
	packages=$$($(GOCMD) list $(PACKAGES)); \
	packages=$$(grep -vE '$(RACELESS)' <<<"$$packages"); \
	$(RACEENV) $(GOCMD) test -race -vet=off -skip '$(RACELESSTESTS)' -timeout 30m $(TESTFLAGS) $$packages

.PHONY: race-core
# The packages with most state shared by goroutines. The tests of the others mostly repeat them
# through HTTP, and take three times as long with the detector: .ci/nightly runs all.
RACECORE := ./client ./daemon/account ./daemon/appdb ./daemon/changes ./daemon/executor ./daemon/live ./daemon/requestlog/... ./daemon/rest/edge ./daemon/spill ./daemon/sqlite ./daemon/storage ./daemon/webhook/delivery ./daemon/webhook/sender ./tui ./tui/session

race-core: ## make race of the packages with most state shared by goroutines
	$(MAKE) --no-print-directory race PACKAGES='$(RACECORE)'

check: format vet lint style cross modules goldens deploy vuln ## run all checks other than tests

format: ## fail if gofmt would change a file
	@unformatted=$$(gofmt -l .ci cmd client daemon $(wildcard tui)); \
	if [ -n "$$unformatted" ]; then echo "gofmt -w $$unformatted"; exit 1; fi

.PHONY: arch
arch: ## print the packages, files, functions and types that exceed a limit of size
	@$(TESTENV) $(GOCMD) -C .ci/tools run ./size -limits ../..

# ./... leaves out directories that start with a dot. The benchmarks of daemon/bench are a
# module of their own, which make test does not compile.
vet: ## go vet
	$(TESTENV) $(GOCMD) vet ./... ./.ci/sqlcmd
	$(TESTENV) $(GOCMD) -C daemon/bench vet ./...

.PHONY: style
style: ## fail if a package has more findings of .ci/tools/style than before
	$(TESTENV) $(GOCMD) -C .ci/tools run ./style ../..

lint: ## staticcheck, in the version in go.mod
	$(TESTENV) $(GOCMD) tool staticcheck ./... ./.ci/sqlcmd
	cd daemon/bench && $(TESTENV) "$$($(GOCMD) -C ../.. tool -n staticcheck)" ./...

cross: ## compile for other platforms; make dist builds releases
	@for target in windows/amd64 darwin/arm64; do \
		echo "build $$target"; \
		packages=./...; if [ $${target%/*} = darwin ]; then packages=./cmd/whctl; fi; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GOCMD) build -trimpath $(NODEBUG) $(NOVCS) -o /dev/null $$packages; \
	done

modules: ## check that go.mod and go.sum are complete, minimal and unaltered
	$(GOCMD) mod verify
	$(GOCMD) mod tidy -diff
	$(GOCMD) -C daemon/bench mod tidy -diff

.PHONY: deploy vuln dist
deploy: ## check package scripts and units with the installed tools
	.ci/deploy

vuln: ## check the dependencies for known vulnerabilities, if the online database is reachable
	.ci/vuln

dist: ## build the release files in bin/dist for all platforms, or for TARGETS="linux/amd64 ..."
	GO=$(GOCMD) VERSION=$(call quote,$(VERSION)) COMMIT=$(call quote,$(COMMIT)) .ci/dist bin/dist $(TARGETS)

goldens: ## fail if `make golden` would change a file
	.ci/goldens

# The packages that compare with golden files. readmetest runs last: it draws the image of
# the terminal from the recording of tui.
GOLDEN = $$(grep -rlE 'client/goldentest"|\.Golden\(' --include='*_test.go' . | xargs -n1 dirname | grep -v readmetest | sort -u)

# client/wire is first, since the tests of others need the code that it generates. A test that
# fails for another reason must not keep the later files from being rewritten.
golden: ## rewrite the golden files and the generated parts of the manual
	$(TESTENV) $(GOCMD) test -vet=off -count=1 -timeout 10m ./client/wire -update
	@status=0; \
	$(TESTENV) $(GOCMD) test -vet=off -count=1 -timeout 10m $(GOLDEN) -update || status=$$?; \
	$(TESTENV) $(GOCMD) test -vet=off -count=1 -timeout 10m ./daemon/readmetest -update || status=$$?; \
	exit $$status

.PHONY: guards
# The packages with files that guard against accidental changes.
GUARDS = $$(grep -rlE 'CompareGuard|UpdatingGuards' --include='*_test.go' cmd daemon tui | xargs -n1 dirname | sort -u | sed 's|^|./|')

guards: ## rewrite the files that guard against accidental changes: checksums of migrations, public API, counts of words
	$(TESTENV) $(GOCMD) test -vet=off -count=1 $(GUARDS) -update-guards

.PHONY: picture
picture: ## redraw the image of a web page in the manual
	$(TESTENV) $(GOCMD) test -vet=off -count=1 -run TestFeedPicture ./daemon/readmetest -draw-pages

bench: ## run the benchmarks
	$(GOCMD) test -run '^$$' -bench . -benchmem -timeout 60m $(TESTFLAGS) $(PACKAGES)
	$(GOCMD) -C daemon/bench test -run '^$$' -bench . -benchmem -timeout 60m $(TESTFLAGS) ./...

.PHONY: crash
ROUNDS ?= 200
crash: ## kill a delivering daemon ROUNDS (200) times, and one of two on WHD_TEST_SQLSERVER_DSN, and check its guarantees; the same with one that captures, and whctl mirror
	$(GOCMD) test -count=1 -timeout 60m -v $(TESTFLAGS) ./daemon/crashtest -rounds $(ROUNDS) -publishers 32
	$(GOCMD) test -count=1 -timeout 60m -v $(TESTFLAGS) ./daemon/changes/crashtest -rounds $(ROUNDS) -changes 300 -load 5s

fuzz: ## run each fuzz target for FUZZTIME (30s)
	@packages=$$($(GOCMD) list $(PACKAGES)); any=; \
	for package in $$packages; do \
		list=$$($(GOCMD) test -list '^Fuzz' $$package) || { echo "$$list"; exit 1; }; \
		targets=$$(grep '^Fuzz' <<<"$$list" || true); \
		for target in $$targets; do \
			any=1; \
			echo "fuzz $$package $$target"; \
			$(GOCMD) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done; \
	[ -n "$$any" ] || { echo "no fuzz target in $(PACKAGES)"; exit 1; }

cover: ## run all tests and print their code coverage
	@mkdir -p bin
	$(GOCMD) test -timeout 20m -coverpkg=./... -coverprofile=bin/cover.out $(TESTFLAGS) $(PACKAGES)
	$(GOCMD) tool cover -func=bin/cover.out | tail -n 1

clean: ## remove build results
	rm -rf bin
