# make help lists the targets.

CARGO ?= cargo
PREFIX ?= /usr/local
MODULE := target/release/libslidewin.so

.DEFAULT_GOAL := help
.PHONY: help build run test lint install clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the module: target/release/libslidewin.so
	@scripts/setup.sh build
	$(CARGO) build --release --locked

run: build ## start a redis-server with the module and play a session
	@scripts/setup.sh redis
	@scripts/run.sh

test: build ## unit, property and integration tests
	@scripts/setup.sh redis
	@scripts/test.sh

lint: ## formatting, and clippy with warnings denied
	@scripts/setup.sh build
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets --locked -- -D warnings

install: build ## install the module below PREFIX (/usr/local)
	install -D -m 0755 $(MODULE) $(DESTDIR)$(PREFIX)/lib/redis/modules/libslidewin.so

clean: ## remove what was built
	$(CARGO) clean
