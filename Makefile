# The only entry: every job of the project is one target here.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
# Groups of real parts: what the demo needs, and what the tests need.
APPLIER ?= flux
export APPLIER
DEMO_PARTS := kubernetes tools $(APPLIER)
PARTS := kubernetes tools flux flux-cli argocd
DEBIAN := tests

help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: PARTS := $(DEMO_PARTS)
demo: DEBIAN := demo
demo: build parts ## Show a live edit becoming a commit, on a real API server
	@node test/demo/demo.ts

test: build parts lint ## Set everything up and run all tests
	@node test/run.ts

build: node_modules/.installed ## Bundle the program into dist/
	@node build.mjs

lint: node_modules/.installed ## Check format, types and unused code
	@biome check --error-on-warnings . && tsc --noEmit && knip

generate: node_modules/.installed ## Write the generated files: CRDs and reference pages
	@node src/main.ts generate

bench: build parts ## Measure, as ratios to a floor of the same run
	@node test/bench/bench.ts

soak: build parts ## Edit 200 times around applies of the real Flux and of the real Argo CD (about 40 minutes)
	@node test/soak/flux.ts 200 && node test/soak/argocd.ts 200

clean: ## Remove what was built here; the cached parts stay
	rm -rf dist coverage node_modules

parts: node_modules/.installed ## Build the real parts for tests and the demo into the user cache
	@sh test/cluster/install-debian.sh $(DEBIAN) && bash test/cluster/build.sh $(PARTS)

node_modules/.installed: package.json package-lock.json
	@echo "installing npm packages (about 20 s)"
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: help demo test build lint generate bench clean parts soak
