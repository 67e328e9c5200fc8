# Two commands do everything on a fresh Debian or Ubuntu machine with Go and Node:
#
#   make demo    builds, then opens the demo run in the browser
#   make test    unit, golden, race, browser tests, and comparisons with real peers

export CGO_ENABLED ?= 0
# What was compiled in one clone serves another: no path of a machine is in it.
export GOFLAGS ?= -trimpath
GO      ?= go
ARGS    ?=
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X main.version=$(VERSION)

# The page is rebuilt when its sources change. Without Node the committed stub
# is embedded in its place.
PAGE := web/dist/index.html
PAGE_SOURCES := $(shell find web/src web/index.html web/package.json web/package-lock.json web/*.ts -type f 2>/dev/null)

.PHONY: all build page demo test check lint bench dist peers fuzz loops locality injected clean

all: build

build: page
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o isobath ./cmd/isobath

page: $(PAGE)

ifneq ($(shell command -v npm 2>/dev/null),)
LINT_PAGE = cd web && npm run lint
lint: web/node_modules/.package-lock.json

$(PAGE): web/node_modules/.package-lock.json $(PAGE_SOURCES)
	cd web && npm run build
	@touch $@

web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@
else
$(PAGE):
	@echo "npm is not installed: the binary gets a stub in place of the page" >&2
endif

demo: build
	./isobath demo $(ARGS)

# The quick tier, about three minutes on two cores: needs Go and nothing else.
# Long tests are shorter and comparisons with other programs are left out.
check:
	$(GO) vet ./...
	$(GO) run ./scripts/gotest -short -vet=off ./...

# Counts of loops against programs that count themselves, at every level of
# optimisation; make test has a share of them. Then DRAWN programs that are drawn
# from a seed on: make loops DRAWN="20 5000".
DRAWN ?= 20 1
loops:
	ISOBATH_ALL_LEVELS=1 ISOBATH_DRAWN="$(DRAWN)" ISOBATH_PEERS=require $(GO) test -count=1 -v -timeout 60m -run 'TestPrograms|TestDrawn|TestHooked' ./internal/loops/tree

# Misses of programs on every geometry against cachegrind, of which make test has
# two for each program, and what callgrind says of their use of lines; then what
# their references predict of rewritten twins that are recorded too, at -O1 and -O2,
# and the advice that must and must not come.
locality:
	ISOBATH_ALL_GEOMETRIES=1 ISOBATH_PEERS=require $(GO) test -count=1 -v -timeout 30m -run 'TestCachegrind|TestCallgrindUse' ./internal/locality/replay
	ISOBATH_ALL_LEVELS=1 ISOBATH_PEERS=require $(GO) test -count=1 -v -timeout 30m -run TestPrograms ./internal/locality/advice

# Delays injected into recorded programs, ten recordings of each kind: nine in ten
# of each kind must be found first. make test has a share of them.
injected:
	ISOBATH_INJECTED=10 ISOBATH_PEERS=require $(GO) test -count=1 -v -timeout 30m -run TestInjectedDelays ./internal/record/mpitrace

# Every command of the README and the guide, as written; make test has those that
# take seconds.
.PHONY: documents
documents:
	ISOBATH_DOCUMENTS=1 ISOBATH_PEERS=require $(GO) test -count=1 -v -timeout 30m -run TestDocumentsAsWritten ./cmd/isobath

# Trials of real commands beside two busy loops: TRIALS of a command with itself,
# and of one with 5 % more steps. make test has a share of them.
TRIALS ?= 100 20
trials:
	ISOBATH_TRIALS="$(TRIALS)" $(GO) test -count=1 -v -timeout 60m -run TestLive ./internal/memory/trial

# Ends with a line that says what was and was not run. Tests are vetted by lint, once.
REPORTS := .reports
test:
	$(MAKE) -j2 --output-sync=target build peers
	$(MAKE) lint
	@mkdir -p $(REPORTS)
	ISOBATH_PEERS=require $(GO) run ./scripts/gotest -report $(REPORTS)/go -again 3 -vet=off -timeout 25m ./...
	$(MAKE) -j2 --output-sync=line test-race test-web
	$(MAKE) test-demo
	$(MAKE) test-bench
	@$(GO) run ./scripts/gotest -tell $(REPORTS)/go $(REPORTS)/e2e.json

# The race detector watches the quick tier of what serves, asks, records and shares:
# what computes in one goroutine takes ten times as long under it and has no races to
# find, and analyses are watched where they are asked for. One package at a time: make
# test runs it beside browser tests, which mostly wait, and nothing in it depends on how
# fast it is.
.PHONY: test-race
test-race:
	racing=$$($(GO) run ./scripts/gotest -racing ./...) && CGO_ENABLED=1 $(GO) run ./scripts/gotest -again 2 -race -short -p 1 -vet=off -timeout 25m $$racing

# The whole quick tier under the race detector, with what test-race leaves out.
.PHONY: races
races:
	ISOBATH_RACES=all CGO_ENABLED=1 $(GO) run ./scripts/gotest -race -short -timeout 120m ./...

.PHONY: test-web test-bench
test-web: page
	@mkdir -p $(REPORTS)
	$(MAKE) -j2 --output-sync=target page-types page-units
	cd e2e && npm ci --ignore-scripts --no-audit --no-fund && npm run check
	ISOBATH_PEERS=require $(GO) run ./scripts/gotest -browser e2e -report $(REPORTS)/e2e.json -again 3

.PHONY: page-types page-units
page-types:
	cd web && npm run check
page-units:
	cd web && npm test

# The benchmark modules are tested too: they read our files with other programs'
# readers.
test-bench:
	@for m in bench/*/go.mod; do [ -f $$m ] || continue; (cd $$(dirname $$m) && CGO_ENABLED=1 $(GO) vet ./... && CGO_ENABLED=1 $(GO) test ./...) || exit 1; done

# Two halves: that of the page is one process, which leaves a core to the other.
.PHONY: lint-go lint-page
lint:
	$(MAKE) -j2 --output-sync=target lint-go lint-page

lint-go:
	@unformatted=$$(git ls-files '*.go' | xargs gofmt -l); [ -z "$$unformatted" ] || { echo "not formatted: $$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) run ./scripts/typecheck darwin/arm64 ./cmd/isobath
	$(GO) tool staticcheck ./...
	$(GO) run ./scripts/unused -except internal/messages/mpiprog
	$(GO) mod tidy -diff
	$(GO) mod verify
	@for m in bench/*/go.mod scripts/dist/nfpm/go.mod; do [ ! -f $$m ] || (cd $$(dirname $$m) && $(GO) mod tidy -diff) || exit 1; done

lint-page:
	$(LINT_PAGE)
	$(GO) run ./scripts/notices -check

peers:
	@scripts/peers

bench: build peers
	$(GO) run ./bench

# Table 1 of the 2012 paper on cycles, from own recordings. Needs valgrind.
.PHONY: table1
table1:
	$(GO) run ./bench/table1

# Each fuzz target for a while: make fuzz FUZZTIME=60s
FUZZTIME ?= 60s
fuzz:
	@for p in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep ^Fuzz); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$p || exit 1; \
		done; \
	done

# Damaged inputs of every format, in the background: make torture TORTURE=1000000
# TORTURETIME=2h TORTUREFROM=0; another FROM tries others.
TORTURE     ?= 1000000
TORTURETIME ?= 4h
TORTUREFROM ?= 0
.PHONY: torture
torture:
	ISOBATH_TORTURE=$(TORTURE) ISOBATH_TORTURE_TIME=$(TORTURETIME) ISOBATH_TORTURE_FROM=$(TORTUREFROM) \
		nice -n 19 $(GO) test -count 1 -timeout 0 -run '^TestDamage$$' -v ./internal/app/damagetest

# Imports, merges, recordings and the server of a page that is edited, killed at
# any moment, KILLS times each. make test has a share of it.
KILLS ?= 50
.PHONY: kills
kills:
	ISOBATH_KILLS=$(KILLS) nice -n 10 $(GO) test -count 1 -timeout 0 -run '^(TestKilledCommands|TestKilledEdits|TestDiskFull|TestFullDisk|TestKilledImport)$$' -v ./cmd/isobath ./internal/engine/clickhouse

# Every statement of the ClickHouse engine on a current release. Debian's is of 2018, so
# this fetches one as a library for Node.js, which is large.
CHDB ?= /tmp/isobath-chdb
.PHONY: clickhouse-newer
clickhouse-newer:
	npm install --prefix $(CHDB) --no-save --no-audit --no-fund --ignore-scripts chdb@3.4.0
	ISOBATH_CHDB=$(CHDB) $(GO) test -count 1 -run '^TestNewer$$' -v ./internal/engine/clickhouse

# Clients, rows and seconds: 64 pages brush ten million rows for two minutes, on
# loopback. make test has a share of it.
LOAD ?= 64 10000000 120
.PHONY: load
load:
	ISOBATH_LOAD="$(LOAD)" $(GO) test -count 1 -timeout 30m -run '^TestLoad$$' -v ./cmd/isobath

# Random interaction with every page, for an hour. make test has a share of it.
SOAK ?= 3600
.PHONY: soak
soak: page
	cd e2e && npm ci --ignore-scripts --no-audit --no-fund && ISOBATH_SOAK=$(SOAK) npx vitest run soak.test.ts --testTimeout 7200000

# The licenses of everything in the program; make lint holds that they are current.
.PHONY: notices
notices: web/node_modules/.package-lock.json
	$(GO) run ./scripts/notices

# Two builds in two folders, each with an empty cache, give the same bytes.
.PHONY: reproducible
reproducible: page
	$(GO) run ./scripts/reproducible -fresh

# Known vulnerabilities in what is called. govulncheck and its database come from the
# network; where they do not, nothing was checked, and that is said.
.PHONY: vulnerabilities
vulnerabilities:
	@bin=$$(mktemp -d); trap 'rm -rf "$$bin"' EXIT; \
	if ! GOBIN=$$bin $(GO) install golang.org/x/vuln/cmd/govulncheck@latest; then \
		echo "vulnerabilities: nothing was checked: govulncheck cannot be fetched here"; exit 2; fi; \
	"$$bin/govulncheck" ./...; case $$? in \
		0) echo "vulnerabilities: none that are known are called";; \
		3) echo "vulnerabilities: those above are called"; exit 3;; \
		*) echo "vulnerabilities: nothing was checked: the database cannot be reached, or the program cannot be read"; exit 2;; \
	esac

# Binaries, archives with manual pages and completions, .deb, .rpm, lists of
# components, checksums.
dist: page shims
	$(GO) run ./scripts/dist -version $(VERSION)

# A release for this platform, twice, compared byte by byte and read by dpkg, rpm
# and tar. make test has a share of it.
.PHONY: dist-twice
dist-twice: page
	ISOBATH_DIST=1 ISOBATH_PEERS=require $(GO) test -count 1 -timeout 60m -run TestReleasesAreEqual -v ./scripts/dist

# The allocation log of `isobath record`, built in for machines without a compiler.
SHIM := internal/record/heap
.PHONY: shims
shims:
	@for a in amd64:x86_64 arm64:aarch64; do \
		arch=$${a%:*}; machine=$${a#*:}; cc=$$machine-linux-gnu-gcc; \
		if [ "$$(uname -m)" = $$machine ]; then cc=cc; fi; \
		if command -v $$cc >/dev/null; then \
			$$cc -O2 -fPIC -shared -fvisibility=hidden -fno-builtin -fno-omit-frame-pointer -o $(SHIM)/prebuilt/$$arch.so $(SHIM)/shim/heap.c -ldl || exit 1; \
		elif [ "$(SHIMS)" = skip ]; then echo "dist: no $$cc: the $$arch binary has no allocation log built in" >&2; \
		else echo "dist: $$cc is missing (Debian packages gcc-$$machine-linux-gnu and libc6-dev-$$arch-cross); SHIMS=skip leaves the $$arch allocation log out" >&2; exit 1; fi; \
	done

clean:
	rm -rf isobath dist $(REPORTS) fixtures/.unpacked $(SHIM)/prebuilt/*.so web/node_modules e2e/node_modules

# What changed in a version, from the changelog: make release-notes VERSION=v0.1.0
.PHONY: release-notes
release-notes:
	@$(GO) run ./scripts/releasenotes $(VERSION)

# Makes the built-in run again from its simulation; test-demo compares the two.
.PHONY: demo-data test-demo
demo-data:
	$(GO) run ./internal/app/demo/gen
test-demo:
	$(GO) run ./internal/app/demo/gen -check

# How far samples can be trusted: every kernel of internal/record/testdata/trust
# at every level of optimisation. About seven minutes; make test has a share.
.PHONY: trust
trust:
	ISOBATH_TRUST=all ISOBATH_PEERS=require $(GO) test ./internal/record -run TestTrust -v -timeout 30m -count 1
