# The commands of this repository. `make help` lists them.

# debug builds quickly; `make bench` measures release builds.
CONFIGURATION ?= debug

# The librdkafka that `make setup` has built.
export PKG_CONFIG_PATH := $(CURDIR)/.deps/librdkafka/lib/pkgconfig$(if $(PKG_CONFIG_PATH),:$(PKG_CONFIG_PATH))

# How many tests run at once. Many have a database of their own and wait for it or for a broker. All of them at
# once would be too many for a small machine.
TESTS_AT_ONCE ?= 16
# The same for end-to-end tests. Each has a store of eight processes, which waits most of its time.
STORES_AT_ONCE ?= 4

# The command with which `make demo STORE=…` gets an account's token.
COMPOSE ?= docker compose

# More options of `swift build`.
BUILD_OPTIONS ?=
SWIFT_BUILD := swift build --explicit-target-dependency-import-check error $(BUILD_OPTIONS)
DEVSTORE = .build/$(CONFIGURATION)/devstore
SOURCES := Package.swift Services Shared Tools Tests Examples

.DEFAULT_GOAL := help
.PHONY: help setup build test conformance contracts stripe stripe-sandbox manifests versions lint format docs client-package run \
	demo scenario browser browser-soak screenshots chaos fuzz bench offers raise clients verify-demo signing keys clean

help: ## Print this list
	@echo "Counterfoil. Usage: make TARGET"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "With KAFKA_HOME=/opt/kafka run, demo, test, chaos and bench take the Apache Kafka there as their broker."

setup: ## Install what is missing: PostgreSQL, librdkafka, broker and S3 store of tests, pinned versions
	@deploy/dev/setup
	@deploy/dev/pin

build: setup ## Build the services and tools (CONFIGURATION=debug|release)
	@echo "make: building ($(CONFIGURATION)); the first time takes some minutes"
	@$(SWIFT_BUILD) -c $(CONFIGURATION)

test: setup ## Build and run every test (ONLY=PaymentsTests: one target, ONLY=EndToEndTests.EndToEnd/Refunds: a suite)
	@echo "make: building with tests; the first time takes some minutes"
	@$(SWIFT_BUILD) --build-tests
ifdef ONLY
	@deploy/dev/run-tests .build/tests.log --skip-build --filter '^$(subst .,\.,$(ONLY))[./(]' \
		--experimental-maximum-parallelization-width \
		$(if $(filter EndToEndTests%,$(ONLY)),$(STORES_AT_ONCE),$(TESTS_AT_ONCE))
else
	@echo "make: checking what holds for every file"
	@deploy/dev/run-tests .build/tidy.log --skip-build --filter '^TidyTests\.'
	@echo "make: testing, $(TESTS_AT_ONCE) at once; each test says when it has passed"
	@deploy/dev/run-tests .build/tests.log --skip-build --skip '^(EndToEnd|Tidy)Tests\.' \
		--experimental-maximum-parallelization-width $(TESTS_AT_ONCE)
	@echo "make: testing the executables end to end, killed at every crash point (some minutes)"
	@deploy/dev/run-tests .build/end-to-end.log --skip-build --filter '^EndToEndTests\.' \
		--skip '/(Bench|PaymentQueues)/' --experimental-maximum-parallelization-width $(STORES_AT_ONCE)
	@deploy/dev/run-client-tests $(DEVSTORE) $(or $(SECONDS),30)
	@echo "make: all tests passed"
endif

conformance: build ## Call a store with Apple's own open-source client and openssl (ONLY=histories)
	@exec $(DEVSTORE) conformance $(if $(ONLY),--only $(ONLY))

contracts: build ## Validate the contracts and fuzz a store with them (SECONDS=60 SEED=1 ONLY=payments)
	@exec $(DEVSTORE) contracts $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED)) \
		$(if $(ONLY),--only $(ONLY))

stripe: build ## Call the stand-in for Stripe with Stripe's own open-source library
	@exec $(DEVSTORE) stripe --check

stripe-sandbox: setup ## Buy, decline and refund at Stripe itself, in test mode, with the key STRIPE_SANDBOX_KEY
	@case "$$STRIPE_SANDBOX_KEY" in \
		rk_test_*|sk_test_*) ;; \
		"") echo "make: set STRIPE_SANDBOX_KEY to a key of Stripe's test mode" >&2; exit 64 ;; \
		*) echo "make: STRIPE_SANDBOX_KEY is no key of Stripe's test mode; nothing was called" >&2; exit 64 ;; \
	esac
	@$(SWIFT_BUILD) --build-tests
	@COUNTERFOIL_STRIPE_SANDBOX_KEY="$$STRIPE_SANDBOX_KEY" deploy/dev/run-tests .build/stripe-sandbox.log --skip-build \
		--filter '^PaymentsTests\.StripeSandboxTests/'

manifests: ## Check docker-compose.yml and the Kubernetes manifests, without engine or cluster
	@deploy/check/run

versions: ## List the versions of packages in use in Package.versions, after `swift package update`
	@deploy/dev/pin --list

lint: setup manifests ## Check the format of all Swift files, and the manifests; changes nothing
	@swift format lint --strict --parallel --recursive $(SOURCES)
	@echo "make: the format is right"
	@deploy/dev/pin --check

format: ## Format all Swift files
	@swift format --in-place --parallel --recursive $(SOURCES)

docs: build ## Build the documentation of every library; a warning, such as a dead link, fails
	@deploy/check/docs

client-package: ## Build an app in a package of its own, and see that it fetches no server
	@deploy/check/client-package

run: build ## Run a whole store until Ctrl-C
	@exec $(DEVSTORE) run

demo: build ## Make one purchase, show each step, then stop (STORE=http://…: on that store; STORY=subscription)
ifdef STORE
	@ACCOUNT_TOKEN=$${ACCOUNT_TOKEN:-$$($(COMPOSE) run --rm -T operator token account --account ada)} \
		&& export ACCOUNT_TOKEN && exec $(DEVSTORE) demo --store $(STORE)
else
	@exec $(DEVSTORE) demo $(if $(STORY),--story $(STORY))
endif

scenario: build ## Play scenario files on a temporary store (FILE=story.yaml SEED=7 JUNIT=out.xml STEPS=1)
	@exec $(DEVSTORE) scenario $(or $(FILE),Examples/scenarios/*.yaml) $(if $(SEED),--seed $(SEED)) \
		$(if $(JUNIT),--junit $(JUNIT)) $(if $(STEPS),--steps)

browser: build ## Use storefront and console of a temporary store in Chromium, with axe (ONLY=s2)
	@Tests/Browser/run $(DEVSTORE) $(if $(ONLY),--only $(ONLY))

browser-soak: build ## Keep console and shop open while a store sells (SECONDS=600), and measure what it costs
	@Tests/Browser/run $(DEVSTORE) --soak $(or $(SECONDS),600)

screenshots: build ## Renew the pictures of storefront and console in docs/pictures, light and dark
	@Tests/Browser/run $(DEVSTORE) --screenshots docs/pictures

chaos: build ## Buy while everything fails, then audit (SECONDS=60 SEED=1 ONLY="hangs dark" BROKERS=3 PROCESSOR=stripe)
	@exec $(DEVSTORE) chaos $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED)) \
		$(foreach kind,$(ONLY),--only $(kind)) $(if $(BROKERS),--brokers $(BROKERS))

fuzz: setup ## Change receipts and signed offers, and check that none is accepted (SECONDS=600 SEED=1)
	@$(SWIFT_BUILD) --build-tests
	@FUZZ_SECONDS=$(or $(SECONDS),600) FUZZ_SEED=$(or $(SEED),1) \
		deploy/dev/run-tests .build/fuzz.log --skip-build --filter MutationTests

bench: CONFIGURATION = release
bench: build ## Measure a release build against this machine's yardstick (N=50000 GROWTH=none IDLE=0 SUBSCRIPTIONS=100000 OFFERS=5000 RAISE=1000000 RECORD=name)
	@exec $(DEVSTORE) bench $(if $(N),--purchases $(N)) $(if $(GROWTH),--growth $(GROWTH)) \
		$(if $(IDLE),--idle-seconds $(IDLE)) $(if $(SUBSCRIPTIONS),--subscriptions $(SUBSCRIPTIONS)) \
		$(if $(OFFERS),--offers $(OFFERS)) $(if $(RAISE),--raise $(RAISE)) \
		$(if $(RECORD),--record $(RECORD))

offers: CONFIGURATION = release
offers: build ## Measure what an offer and a code add to the cost of a purchase with a release build (N=5000)
	@exec $(DEVSTORE) offers $(if $(N),--purchases $(N))

raise: CONFIGURATION = release
raise: build ## Tell many subscribers of a higher price beside renewals with a release build (N=1000000)
	@exec $(DEVSTORE) raise $(if $(N),--subscriptions $(N))

verify-demo: CONFIGURATION = release
verify-demo: build ## Rebuild a store's tables from its event log, and find an altered row (N=5000)
	@exec $(DEVSTORE) verify-demo $(if $(N),--purchases $(N))

clients: CONFIGURATION = release
clients: build ## Measure the cost of connected clients with a release build (IDLE=5000)
	@ulimit -Sn "$$(ulimit -Hn)"; exec $(DEVSTORE) clients $(if $(IDLE),--idle $(IDLE))

signing: CONFIGURATION = release
signing: build ## Measure the cost of signatures, receipts and long histories with a release build
	@exec $(DEVSTORE) signing

keys: build ## Make development keys and certificates in .dev/keys
	@exec .build/$(CONFIGURATION)/counterfoil keys create --directory .dev/keys

clean: ## Remove what was built and the development data; what was fetched stays
	@rm -rf .build .dev
