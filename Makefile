# One readable line a step; .ci/run calls test and lint. Two flavours of compiled
# packages only: release (no cgo, trimpath) and race, each costs minutes when cold.

VERSION ?= 0.1.0-dev
COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
STAMP   := -X main.version=$(VERSION) -X main.commit=$(COMMIT)
RELEASE := CGO_ENABLED=0 GOFLAGS=-trimpath
TOOLS   := $(CURDIR)/build/tools
STAGE   := .ci/stage
# On a crowded machine one test of thousands may miss its moment: up to three that
# fail are run once more, alone, and are named by "re-run" in what is printed. A data
# race, a leak, a panic or a time-out is never run again, and certify forgives nothing.
TESTS   := $(TOOLS)/bin/gotestsum --format pkgname-and-test-fails --format-icons text --format-hide-empty-pkg --hide-summary skipped \
	--rerun-fails=1 --rerun-fails-max-failures=3 --rerun-fails-abort-on-data-race

.PHONY: help build run test examples unit lint certify record fuzz bench micro bench-ready clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

build: ## write bin/agenthost (one static file)
	@mkdir -p bin
	@$(RELEASE) go build -ldflags '-s -w $(STAMP)' -o bin/agenthost ./cmd/agenthost

bin/demo: build
	@$(RELEASE) go build -ldflags '-s -w' -o bin/ ./cmd/demo ./fakes/cmd/fake
.PHONY: bin/demo

run: bin/demo ## show a coding agent answer two turns of one session, on both wires
	@bin/demo

test: ## build and test everything, with the real CLIs and SDKs
	@$(STAGE) tools fakes/tools/install.sh all
	@$(STAGE) build $(MAKE) --no-print-directory build bin/demo
	@$(STAGE) vet env $(RELEASE) go vet ./...
	@$(STAGE) demo bin/demo
	@$(STAGE) bench bin/agenthost bench --quick --silent
	@echo "test: the whole suite with -race, what drives real CLIs and SDKs by itself: it takes the whole machine"
	@AGENTHOST_TEST_CLIS=1 $(TESTS) --packages "$$(go list ./... | grep -v /cmd/acceptance | tr '\n' ' ')" -- -race -timeout 15m
	@AGENTHOST_TEST_CLIS=1 $(TESTS) --packages ./cmd/acceptance -- -race -timeout 20m
	@$(STAGE) examples $(MAKE) --no-print-directory examples

examples: ## build and test the modules in docs/examples, as a module outside would be
	@cd docs/examples/adapter && go vet ./... && go test -race -timeout 5m ./... || \
		{ echo 'if go.mod is out of date: cd docs/examples/adapter && go mod tidy' >&2; exit 1; }

unit: ## test without the real CLIs and SDKs
	@go test -race -timeout 15m ./...

lint: ## gofmt, vet and golangci-lint
	@$(STAGE) tools fakes/tools/install.sh lint
	@$(STAGE) gofmt sh -c 'test -z "$$(gofmt -l actors adapters bench cmd docs fakes server wires | tee /dev/stderr)"'
	@$(RELEASE) $(TOOLS)/bin/golangci-lint run

certify: bin/demo ## the long matrix: every case on every CLI, three times
	@$(STAGE) tools fakes/tools/install.sh all
	@AGENTHOST_TEST_CLIS=1 AGENTHOST_CERTIFY=1 go test -race -count=3 -timeout 60m ./...

record: ## record the installed CLIs against the scripted provider and compare with what is known of them
	@$(STAGE) tools fakes/tools/install.sh all
	@$(RELEASE) go run ./cmd/record

FUZZTIME ?= 30s
fuzz: ## feed every decoder with odd input, FUZZTIME each; what falls is kept in testdata/fuzz
	@grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z]+\(f ' actors adapters cmd fakes server wires | sed 's|/[^/]*:func | |; s|(f $$||' | sort -u | \
		while read -r dir name; do go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x "./$$dir" || exit 1; done

COUNT ?= 6
HOT   := ^Benchmark(Feed|Delta|TextDelta|Batch|FoldDeltas|EncodeDeltas|DecodeDeltas|EncodeChunk|Append|Bytes|Splitter|Object)
micro: ## time the hot functions, for benchstat: make micro >new.txt
	@go test -run '^$$' -bench '$(HOT)' -benchmem -benchtime 200ms -count $(COUNT) \
		./adapters/... ./actors/agent ./actors/event ./actors/fold ./actors/process ./actors/redact ./actors/store/... ./actors/turn ./wires/... ./cmd/agenthost

bench-ready: bin/demo ## build what measurements need: the server, the stand-in and the provider
	@$(RELEASE) go build -ldflags '-s -w' -o bin/ ./fakes/cmd/...

OUT ?=
bench: bin/demo ## measure everything beside bare processes and a plain host; OUT=docs/performance keeps the report
	@bin/agenthost bench --full $(if $(OUT),--out $(OUT))

clean: ## remove what was built; installed tools stay
	@rm -rf bin
