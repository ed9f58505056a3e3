# `make` alone lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
export PATH := $(PATH):/usr/local/go/bin

GO       ?= go
EXE      := $(shell $(GO) env GOEXE)
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT   ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
STAMP    := -X github.com/bizhook/whd/cmd/internal/cli.version=$(VERSION) -X github.com/bizhook/whd/cmd/internal/cli.commit=$(COMMIT)
GOBUILD  := CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w $(STAMP)'

# What `make run` and the test targets pass on, for instance
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

# The demo may send messages to this machine, and to its own address /Webhooks/Test.
run: build ## build, then serve demo records from ./.whd on http://127.0.0.1:5050
	exec bin/whd$(EXE) serve --demo --data-dir ./.whd --webhooks-allow-targets 127.0.0.0/8 --webhooks-host-url http://127.0.0.1:5050 $(ARGS)

# The settings of GOBUILD, so that the builds inside tests find in the cache what go
# test has compiled. make check runs go vet over everything.
TESTENV = CGO_ENABLED=0 GOFLAGS='$(strip $(shell $(GO) env GOFLAGS) -trimpath)'

test: ## run all tests but those of make clients, offline
	$(TESTENV) $(GO) test -vet=off -timeout 30m $(TESTFLAGS) $(PACKAGES)

.PHONY: clients
# The tests that run programs of third parties, with the packages that they are in.
CLIENTPACKAGES := ./cmd/whctl ./cmd/whctl/output ./daemon ./daemon/rest ./daemon/webhook/...
CLIENTTESTS    := InPython|LinesAreCompleted|FishOffers|ClientOfServiceStack|BehindNginx|TypesCompileAndWork|SamplesWork|CutReplyToCurl|CutCompressedReplyToTools|ReferenceLibraryVerifies|ReadmeVerifies|InLibreOffice

clients: ## run the tests with programs of third parties (Node.js, PHP, Mono, LibreOffice, shells, nginx, ...), which must be installed
	$(TESTENV) WHD_TEST_CLIENTS=1 $(GO) test -vet=off -count=1 -timeout 30m $(TESTFLAGS) -run '$(CLIENTTESTS)' $(CLIENTPACKAGES)

.PHONY: test-sqlserver
test-sqlserver: ## run the tests that need a server, which WHD_TEST_SQLSERVER_DSN must name
	@test -n "$${WHD_TEST_SQLSERVER_DSN:-}" || { echo "WHD_TEST_SQLSERVER_DSN is not set: it names the server to test on, such as sqlserver://user:password@host?database=master"; exit 1; }
	$(GO) test -count=1 -timeout 30m -v $(TESTFLAGS) ./daemon ./daemon/crashtest ./daemon/appdb ./daemon/mssql/... ./daemon/erp/... ./daemon/storage ./daemon/requestlog/sqlstore ./daemon/webhook/sqlstore | grep -v '^=== '

# Packages left out of make race:
#   daemon/readmetest                  runs commands of the shell, with programs built without the detector
#   daemon/bench/read, bench/delivery  benchmarks
#   daemon/demo, client/xlsx, workbook start no goroutine
# SQLite and its C library are not instrumented: they are translated from C, take ten
# times as long with it, and synchronize by means that the detector does not see.
# Tests left out: TestMemoryOfExports measures memory, of which the detector takes more
# than the program; so do TestMemoryOfABody and TestTextDoesNotAllocate;
# TestFlagsAreAcceptedAnywhere, in one goroutine, takes minutes with it. In TestManyChangesPerSecond,
# TestReconnectAfterDaemonRestart and TestTerminalIsRestored bubbletea ends on a terminal: it waits half a
# second for the reader of the keys, and closes what that reads from all the same.
RACELESSTESTS := ^(TestMemoryOfExports|TestMemoryOfABody|TestTextDoesNotAllocate|TestFlagsAreAcceptedAnywhere|TestManyChangesPerSecond|TestReconnectAfterDaemonRestart|TestTerminalIsRestored)$$
RACELESS := /daemon/readmetest$$|/daemon/bench/read$$|/daemon/bench/delivery$$|/daemon/demo$$|/client/xlsx$$|/client/workbook$$

race: ## run the tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -vet=off -gcflags='modernc.org/...=-race=false' -skip '$(RACELESSTESTS)' -timeout 30m $(TESTFLAGS) $$($(GO) list $(PACKAGES) | grep -vE '$(RACELESS)')

check: format vet lint cross modules goldens deploy vuln ## everything that is checked besides the tests

format: ## fail where gofmt would change a file
	@unformatted=$$(gofmt -l cmd client daemon $(wildcard tui)); \
	if [ -n "$$unformatted" ]; then echo "gofmt -w $$unformatted"; exit 1; fi

.PHONY: arch
arch: ## print what does not keep to the rules of structure yet: imports, sizes of packages and types
	$(TESTENV) $(GO) test -vet=off -count=1 -v -run TestViolations ./daemon/arch

vet: ## go vet
	$(TESTENV) $(GO) vet ./...

lint: ## staticcheck, in the version that go.mod names
	$(TESTENV) $(GO) tool staticcheck ./...

cross: ## compile for the other systems; make dist builds all that is published
	@for target in windows/amd64 darwin/arm64; do \
		echo "build $$target"; \
		packages=./...; if [ $${target%/*} = darwin ]; then packages=./cmd/whctl; fi; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -o /dev/null $$packages; \
	done

modules: ## go.mod and go.sum are complete, minimal and unaltered
	$(GO) mod verify
	$(GO) mod tidy -diff

.PHONY: deploy vuln dist
deploy: ## look at the scripts and units of packages with what is here for that
	.ci/deploy

vuln: ## look for known weaknesses of what the programs use, where the list of them can be reached
	.ci/vuln

dist: ## build what is published for every platform into bin/dist, or for TARGETS="linux/amd64 ..."
	GO=$(GO) VERSION='$(VERSION)' COMMIT='$(COMMIT)' .ci/dist bin/dist $(TARGETS)

goldens: ## fail where `make golden` would change a file
	.ci/goldens

# The packages whose tests know -update. That of the manual comes last: its picture of
# the terminal is drawn from a golden of tui.
GOLDEN = $$(grep -rlE 'flag\.Bool\("update"' --include='*_test.go' . | xargs -n1 dirname | grep -v readmetest | sort -u)

golden: ## rewrite the expected outputs of the tests, and the generated parts of the manual
	$(TESTENV) $(GO) test -vet=off -count=1 -timeout 10m $(GOLDEN) -update
	$(TESTENV) $(GO) test -vet=off -count=1 -timeout 10m ./daemon/readmetest -update

.PHONY: picture
picture: ## draw the picture of a web page in the README again (needs chromium and poppler-utils)
	.ci/picture

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem -timeout 60m $(TESTFLAGS) $(PACKAGES)

.PHONY: crash
ROUNDS ?= 200
crash: ## kill a daemon that delivers ROUNDS (200) times, and one of two on WHD_TEST_SQLSERVER_DSN, and look whether their promises hold
	$(GO) test -count=1 -timeout 60m -v $(TESTFLAGS) ./daemon/crashtest -rounds $(ROUNDS)

fuzz: ## run each fuzz target for FUZZTIME (30s)
	@for package in $$($(GO) list $(PACKAGES)); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "fuzz $$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

cover: ## run all tests and print how much of the code they reach
	@mkdir -p bin
	$(GO) test -timeout 20m -coverpkg=./... -coverprofile=bin/cover.out $(TESTFLAGS) $(PACKAGES)
	$(GO) tool cover -func=bin/cover.out | tail -n 1

clean: ## remove what was built
	rm -rf bin
