# Athir. 'make' alone lists what can be made.

DATA  ?= data
MEDIA ?=
TOOLS ?= tools/go.mod

GO      := CGO_ENABLED=0 go
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# The pages are built again when what they are built from has changed. The
# stamps lie inside node_modules, so they vanish with it.
PAGE       := internal/web/pages/dist/index.html
STAMPS     := web/node_modules/.athir
INSTALLED  := $(STAMPS)/installed
BUILT      := $(STAMPS)/built
WEBSOURCES := $(shell find web -name node_modules -prune -o -name test-results -prune -o -name tests -prune -o -type f -print)

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help run build pages deps deps-test prepare test test-loaded soak first-hour deb deb-test image bench faults lint lint-all fuzz fuzz-api mutate clean force

help: ## list what can be made
	@echo "Athir: one internet radio station, end to end."
	@echo
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s%s\n", $$1, $$2 }'
	@echo
	@echo "  make run MEDIA=/path/to/music   puts your own folder on the air"
	@echo "  make run DATA=/path             keeps the station's state elsewhere than ./data"

# A make of its own for build: this one looked for the pages before they were there.
run: prepare ## install what is missing, build, and go on the air with the demo library
	@$(MAKE) --no-print-directory build
	@exec bin/athir run --data "$(DATA)" $(if $(MEDIA),--media "$(MEDIA)",--demo)

# The three lanes wait for different things: packages for the disk, pages for the
# registry, Go for the processors. What lane three compiles, build finds done.
prepare:
	@scripts/lanes.sh \
		"packages" scripts/deps.sh $(if $(MEDIA),station,run) ::: \
		"pages" $(MAKE) --no-print-directory pages ::: \
		"Go compiler" env $(GO) build -v -trimpath -buildvcs=false ./internal/...

deps: ## install what the station needs and this machine lacks
	@scripts/deps.sh $(if $(MEDIA),station,run)

deps-test: ## the same, for the tests
	@scripts/deps.sh test

# -buildvcs=false: the version is stamped from git describe, and a checkout
# owned by someone else must build too.
build: $(BUILT) ## build bin/athir with the pages inside
	@scripts/lanes.sh athir env $(GO) build -v -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)' -o bin/athir ./cmd/athir

pages: $(BUILT) ## build the web pages

$(INSTALLED): web/package.json web/package-lock.json
	@scripts/lanes.sh "page tools" npm --prefix web ci --no-audit --no-fund
	@mkdir -p $(STAMPS) && touch $@

$(BUILT): $(INSTALLED) $(WEBSOURCES) $(if $(wildcard $(PAGE)),,force)
	@scripts/lanes.sh pages npm --prefix web run build
	@touch $@

test: ## every capability: lint, unit, race, end to end, browser (half an hour)
	@scripts/test.sh

test-loaded: ## make test RUNS times (10) beside four busy loops; prints a table (hours)
	@scripts/loaded.sh

soak: ## long, statistical and load-dependent tests: before a release and nightly (hours)
	@scripts/soak.sh

first-hour: $(BUILT) ## an operator's first hour in the browser, by keyboard; prints steps and seconds (a quarter of an hour)
	@scripts/deps.sh soak
	@$(GO) test -tags soak -run '^TestSoakAnOperatorsFirstHour$$' -v -count=1 -timeout 1h ./test/e2e

# Both architectures, into bin/deb. See docs/install.md.
deb: $(BUILT) ## build the Debian packages of the station
	@scripts/deb.sh

deb-test: $(BUILT) ## install the package on a bare Debian and as an image, hear it, reboot, hear it again (root; minutes)
	@scripts/deps.sh deb
	@go test -tags soak -run '^TestSoak' -v -count=1 -timeout 1h ./test/deb

# For ARCH, amd64 or arm64; this machine's where it says nothing. See docs/containers.md.
image: $(BUILT) ## build the container image of the station from its Debian package (docker or podman)
	@scripts/image.sh $(ARCH)

bench: ## print the figures we publish, beside peers; asserts nothing
	@scripts/bench.sh

faults: ## put known faults into the code, one after another; the test named for each must fail
	@scripts/faults.sh $(FAULT)

lint: ## vet the Go code, with errcheck and the quick half of staticcheck
	@scripts/lint.sh

lint-all: ## the long list of golangci-lint, which is compiled first
	@go tool -modfile=$(TOOLS) golangci-lint run --build-tags soak ./...

fuzz: ## run every fuzz target for FUZZTIME (20s)
	@scripts/fuzz.sh

fuzz-api: ## send REQUESTS (1000000) hostile requests and events to a station in one process
	@ATHIR_FUZZ_REQUESTS="$(or $(REQUESTS),1000000)" go test -run '^TestSiege$$' -v -timeout 6h ./internal/app

mutate: ## mutation testing of the rotation planner; FILE=ladder.go for one file
	@scripts/mutate.sh $(FILE)

clean: ## remove build output; the station's data stays
	@rm -rf bin web/node_modules web/test-results test-results test/conformance/node_modules test/bench/sockets/peer/node_modules
	@find internal/web/pages/dist -mindepth 1 ! -name .keep -delete
	@echo "  removed bin, what npm installed, and the built pages"
