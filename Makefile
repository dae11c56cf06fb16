# Everything a newcomer or a contributor types. `make` alone lists it.
# CARGO_TARGET_DIR is honoured; by default cargo builds into ./target.

# One selection of packages everywhere: with another one cargo would switch features and compile the query engine again.
SELECTION := --workspace
# The build that `make demo` runs.
PROFILE ?= dev
ARGS ?=

TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
OUT_DIR := $(TARGET_DIR)/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))

.DEFAULT_GOAL := help
.PHONY: help setup build demo test bench services fmt tidy clean

help: ## this list
	@echo 'Weir: one governed door to data that lives in many places.'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo '  make demo ARGS=--once           answer the questions and end'
	@echo '  make demo ARGS="--scale 10"     ten times the data'
	@echo '  make bench ARGS=scan            one group of benchmarks (scan, push-down)'
	@echo '  make services ARGS="postgres"   only some of the servers'

setup: ## install what is needed besides Rust: Debian packages, private Python environments
	@scripts/setup

build: setup ## compile everything
	cargo build $(SELECTION) --all-targets

demo: ## start private databases, load data, ask the questions, stay up until Ctrl-C
	@scripts/setup --demo
	@echo 'demo: building (the first build takes minutes, the next seconds)'
	@cargo build $(SELECTION) --profile $(PROFILE) --bin weir
	@exec $(OUT_DIR)/weir demo $(ARGS)

test: ## install what is missing, then every check and every test
	@scripts/test

bench: setup ## measure beside a ceiling or a peer: a table, and bench/results/*.json
	cargo build $(SELECTION) --release --bin weir --bin weir-bench
	@exec $(TARGET_DIR)/release/weir-bench $(ARGS)

services: setup ## keep private test servers up and print their addresses as shell exports
	@cargo build --quiet $(SELECTION) --bin weir-services
	@exec $(TARGET_DIR)/debug/weir-services $(ARGS)

fmt: ## format the code
	cargo fmt --all

tidy: ## check the rules of the house (ARCHITECTURE.md)
	@cargo xtask tidy

clean: ## remove what was built (private data and Python environments stay in the user's cache)
	cargo clean
