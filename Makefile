# make help lists the targets.

CARGO ?= cargo
PREFIX ?= /usr/local
MODULE := target/release/libslidewin.so
# The scripts look there, wherever cargo would build for this user.
export CARGO_TARGET_DIR := $(CURDIR)/target
# Where scripts/setup.sh puts a server if the system's own is too old.
export PATH := $(CURDIR)/target/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help build run test test-cluster test-servers test-long test-valgrind test-clients test-examples \
	test-python test-node test-docs test-monitoring test-dist test-musl fuzz lint lint-files bench dist install clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the module: target/release/libslidewin.so
	@scripts/setup.sh build
	$(CARGO) build --release --locked

run: build ## start a redis-server with the module and play a session
	@scripts/setup.sh redis
	@scripts/run.sh

test: build ## everything that fits into a quarter of an hour
	@scripts/test.sh

test-cluster: build ## integration tests on a real cluster of 3 primaries and 3 replicas
	@scripts/setup.sh redis
	SLIDEWIN_MODULE=$(CURDIR)/$(MODULE) $(CARGO) test --locked --test server cluster::

test-servers: build ## integration tests on Redis 6.2, 7.0, 8.2 and Valkey 8.0, 8.1, 9.1
	@scripts/setup.sh redis
	@scripts/test-servers.sh

test-long: build ## integration tests, and the memory figures, the long ones in full
	@scripts/setup.sh redis
	SLIDEWIN_LONG=1 SLIDEWIN_MODULE=$(CURDIR)/$(MODULE) $(CARGO) test --locked --test server
	SLIDEWIN_LONG=1 tests/docs/test.sh -k test_memory

test-valgrind: build ## the module in a server under valgrind
	@scripts/test-valgrind.sh

test-clients: build ## redis-py, node-redis, ioredis and redis-rs; the recipes; migrating
	@scripts/test-clients.sh

test-python: build ## the Python package, on its own and in Flask-Limiter, slowapi and Django REST framework
	@clients/python/test.sh

test-node: build ## the Node.js package, on its own and in Express, NestJS and Fastify
	@clients/node/test.sh

test-docs: build ## what the pages say: server errors, memory, upgrades, clients, recipes
	@tests/docs/test.sh

test-examples: build ## the Flask shop, and the live page in Chromium
	@scripts/test-examples.sh

test-monitoring: build ## exporter, alerts and dashboard with a real Prometheus
	@scripts/setup.sh redis
	@scripts/test-monitoring.sh

fuzz: ## fuzz the parsers of members and of arguments, FUZZ_SECONDS each (120)
	@scripts/fuzz.sh

lint: ## formatting, and clippy with warnings denied
	@scripts/setup.sh build
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

lint-files: ## workflows, Dockerfile, compose file and scripts, with linters out of wheels
	@scripts/lint-files.sh

bench: build ## measure against the usual script, plain commands and the server's floor
	@bench/run.sh

dist: ## archive and Debian package for this machine's architecture: dist/
	@scripts/dist.sh

test-dist: dist ## unpack, check, install and load the packages
	@scripts/test-dist.sh

test-musl: ## the same session on a Redis for glibc and one for musl, a panic included
	@scripts/test-musl.sh

install: build ## install the module below PREFIX (/usr/local)
	install -D -m 0755 $(MODULE) $(DESTDIR)$(PREFIX)/lib/redis/modules/libslidewin.so

clean: ## remove what was built
	$(CARGO) clean
