SHELL := bash
.DEFAULT_GOAL := help

SOURCES := Sources Tests Plugins Benchmarks Examples Package.swift

# One file that needs neither the Swift runtime nor any shared library: it starts in a millisecond.
# It needs lld, and crashes at its start with a run path in it. Darwin has no static executables.
# At a fixed address: to move itself to another one costs it a quarter of its start.
LINUX := $(filter Linux,$(shell uname -s))
STATIC := $(if $(LINUX),--disable-local-rpath -Xswiftc -static-executable -Xswiftc -use-ld=lld \
	-Xswiftc -Xclang-linker -Xswiftc -static)
STRIPPED := $(if $(LINUX),-Xlinker -s)

PREFIX := /usr/local

.PHONY: help prerequisites demo example test test-all check lint-files sanitize fuzz torture rules docs release \
	install archive deb try-deb benchmark benchmark-peers clean format

help: ## Show this help
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1	\2/p' $(MAKEFILE_LIST) | expand -t 24

prerequisites:
	@Scripts/prerequisites

demo: prerequisites ## Create and migrate a sample database
	@Scripts/demo

example: prerequisites ## Build and test Examples/Reminders, an app with SchemaKit
	@set -o pipefail; swift test --package-path Examples/Reminders --scratch-path .build/example \
	  --disable-xctest 2>&1 | awk -f Scripts/failures.awk

test: prerequisites ## Build and run the tests; print failures and totals
	@set -o pipefail; SCHEMACTL_NO_PLUGINS=1 swift test --disable-xctest $(WHOLE) 2>&1 | awk -f Scripts/failures.awk

test-all: prerequisites ## All tests: also kills, faults, large tables, the SwiftPM plugin, the site
	@set -o pipefail; SCHEMACTL_NO_PLUGINS=1 SCHEMACTL_TEST_ALL=1 swift test --disable-xctest 2>&1 | awk -f Scripts/failures.awk
	@Scripts/try-plugin
	@Scripts/try-embedding
	@$(MAKE) --no-print-directory example
	@$(MAKE) --no-print-directory docs
	@Scripts/try-docs

check: prerequisites ## Check the format, build without warnings, run the tests
	@swift format lint --strict --parallel --recursive $(SOURCES)
	@SCHEMACTL_NO_PLUGINS=1 SCHEMACTL_TEST_ALL=1 swift build
	@SCHEMACTL_FORBID_STRING_SETS=1 swift build --product schemactl --scratch-path .build/strict
	@$(MAKE) --no-print-directory test

lint-files: ## Check workflows, YAML, shell scripts, spelling and links
	@Scripts/lint-files

sanitize: prerequisites ## Run all tests under the address and the thread sanitizer
	@Scripts/sanitize

# Not the shell's own variable of that name, which counts.
fuzz: SECONDS := 60
fuzz: prerequisites ## Feed random input to every reader, SECONDS=60 each (Linux)
	@Scripts/fuzz $(SECONDS)

torture: prerequisites ## Inject faults for ten minutes; write docs/reliability-run.md
	swift build -c release --product schemactl --scratch-path .build/torture
	SCHEMACTL_TEST_ALL=1 swift build -c release --product SchemaTorture --scratch-path .build/torture
	.build/torture/release/SchemaTorture --minutes 10 --write docs/reliability-run.md

rules: prerequisites ## Update the registry, docs/rules.md and the messages after a new lint rule
	@Scripts/rules
	@UPDATE_GOLDEN=1 swift test --disable-xctest --filter 'RuleDocumentationTests|MessageTests'

format: prerequisites ## Format all Swift files in place
	@swift format --in-place --parallel --recursive $(SOURCES)

docs: prerequisites ## Build the documentation site in .build/docs
	@Scripts/docs

release: prerequisites ## Build dist/schemactl: on Linux one static file
	swift build -c release --product schemactl --scratch-path .build/static $(STATIC) $(STRIPPED)
	@mkdir -p dist
	@install -m 755 .build/static/release/schemactl dist/schemactl

dist/schemactl:
	@$(MAKE) --no-print-directory release

install: dist/schemactl ## Install dist/schemactl with man page and completions; PREFIX=/usr/local
	@PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) Scripts/install

archive: release ## Pack dist/schemactl with man page and completions as dist/schemactl-….tar.gz
	@Scripts/archive

deb: release ## Build a Debian package, dist/schemactl_….deb
	@Scripts/deb

try-deb: deb ## Install that package in a new minimal Debian and run it (root, debootstrap)
	@Scripts/try-deb dist/schemactl_$$(Scripts/version)_$$(dpkg --print-architecture).deb

benchmark: release ## Compare the release with sqlite3 and others; write docs/performance-run.md (Linux, an hour)
	SCHEMACTL_TEST_ALL=1 swift build -c release --product SchemaBenchmark --scratch-path .build/benchmark
	.build/benchmark/release/SchemaBenchmark --tool dist/schemactl --all \
	  --write docs/performance-run.md --json .build/benchmark.json

benchmark-peers: prerequisites ## Install the tools that the benchmark compares
	@Scripts/benchmark-peers

clean: ## Remove all build results
	rm -rf .build dist demo
