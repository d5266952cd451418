# All commands of the project; `make help` lists them. The environment is a stack file: ENV=dev is Pulumi.dev.yaml.
.DEFAULT_GOAL := help
ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
ENV ?= dev
OUT ?= rendered/manifests/$(ENV)
BASE ?= origin/main
# Environments to review; all of them unless some are named.
ENVS ?=
TAG ?=
# The simulator's own environment, unless one is named.
SIMULATED := $(if $(filter default file,$(origin ENV)),sim,$(ENV))
PYTHON := $(ROOT)/.venv/bin/python
SETUP := @command -v python3 >/dev/null || { echo "Python is missing: install Python 3.11" >&2; exit 1; }; $(ROOT)/toolchain/setup
TIERS := @$(PYTHON) -m commands.tiers

.PHONY: help setup preview up destroy refresh why drift repair take-over budget pulumi render review simulator simulator-stop
.PHONY: lint types test-unit test-engine test-cluster test-eks test-services test-fast test docs bench lock release clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(ROOT)/Makefile

setup: ## Get all packages and tools (the other commands get what they need by themselves)
	$(SETUP) all && echo "set-up: everything is in place"

preview: ## Show what `up` would change, by ENV=dev
	$(SETUP) python engine
	@$(PYTHON) -m commands.engine preview --env '$(ENV)'

up: ## Deploy an environment, by ENV=dev
	$(SETUP) python engine
	@$(PYTHON) -m commands.engine up --env '$(ENV)'

destroy: ## Remove what an environment deployed, by ENV=dev
	$(SETUP) python engine
	@$(PYTHON) -m commands.engine destroy --env '$(ENV)'

refresh: ## Take over into the state what was changed in the cluster, by ENV=dev
	$(SETUP) python engine
	@$(PYTHON) -m commands.engine refresh --env '$(ENV)'

why: ## Say which of the layer's objects is not ready, on which node, why, and what helps, by ENV=dev
	$(SETUP) python
	@$(PYTHON) -m commands.why --env '$(ENV)'

drift: ## Show what in the cluster is not as it was deployed, by ENV=dev
	$(SETUP) python engine
	@$(PYTHON) -m commands.drift --env '$(ENV)'

repair: ## Deploy, and take back what somebody else has changed, by ENV=dev
	$(SETUP) python engine
	@$(PYTHON) -m commands.repair --env '$(ENV)'

take-over: ## The same where the state is lost: take its objects over from the cluster, by ENV=dev
	$(SETUP) python engine
	@$(PYTHON) -m commands.repair --take-over --env '$(ENV)'

budget: ## Print an environment's pod budget as JSON, from its settings alone, by ENV=dev
	$(SETUP) python >&2
	@$(PYTHON) -m commands.budget --env '$(ENV)'

pulumi: ## Run the engine's own command line on an environment, by ENV=dev ARGS='stack export'
	$(SETUP) python engine
	@$(PYTHON) -m commands.cli --env '$(ENV)' -- $(ARGS)

render: ## Write all manifests of an environment as YAML, by ENV=dev OUT=folder
	$(SETUP) python engine
	@$(PYTHON) -m commands.render --env '$(ENV)' --out '$(OUT)'

review: ## Show what a change does to every environment, as its pull request will, by BASE=origin/main
	$(SETUP) python engine
	@$(PYTHON) -m commands.pull_request --base '$(BASE)' --env $(ENVS)

simulator: ## Start a real control plane with simulated nodes for ENV=sim
	$(SETUP) python cluster
	@$(PYTHON) -m simulator start --env '$(SIMULATED)'

simulator-stop: ## Stop it and remove what it left
	$(SETUP) python
	@$(PYTHON) -m simulator stop --env '$(SIMULATED)'

lint: ## Check style and format
	$(SETUP) python
	$(TIERS) lint

types: ## Check types
	$(SETUP) python
	$(TIERS) types

test-unit: ## Pure functions and components with recorded registrations
	$(SETUP) python
	$(TIERS) unit

test-engine: ## The real engine: preview, up, render, errors
	$(SETUP) python engine
	$(TIERS) engine

test-cluster: ## A real API server with simulated nodes
	$(SETUP) python engine cluster services
	$(TIERS) cluster

test-eks: ## An EKS cluster from nothing, in a stand-in for AWS; its API server is real, its nodes are simulated
	$(SETUP) python engine cluster
	$(TIERS) eks

test-services: ## The servers that read the rendered configurations
	$(SETUP) python engine cluster services
	$(TIERS) services

test-fast: ## lint, types, unit: no tools needed, under 60 s
	$(SETUP) python
	$(TIERS) lint types unit

test: ## Everything, in tiers with time budgets: under 18 minutes once the tools are there
	$(SETUP) all
	$(TIERS) lint types unit engine cluster eks services

docs: ## Write the generated parts of the documentation
	$(SETUP) python
	@$(PYTHON) -m commands.docs

bench: ## What things cost, side by side in one run on an idle machine, about 90 minutes: docs/benchmarks.md
	$(SETUP) all
	@$(PYTHON) -m bench

# Hashes, and no address of a registry: whoever installs takes the packages from theirs.
LOCK := .venv/bin/uv pip compile pyproject.toml --quiet --generate-hashes --no-header --no-emit-index-url \
  --no-emit-find-links --python-version 3.11

lock: ## Write the lock files anew from pyproject.toml: hashes, no download addresses
	$(SETUP) python
	@cd $(ROOT) && $(LOCK) --extra program --extra dev --output-file requirements.txt
	@cd $(ROOT) && $(LOCK) --extra pack --constraints requirements.txt --output-file distribution/pack/requirements.txt
	@cd $(ROOT) && $(LOCK) --constraints requirements.txt --output-file distribution/check/requirements.txt

release: ## Build the archives of this commit, by OUT=folder and TAG=v1.2.3
	$(SETUP) python
	@$(PYTHON) -m commands.release --out '$(if $(filter file,$(origin OUT)),dist,$(OUT))' --tag '$(TAG)'

clean: ## Remove caches and engine logs; never state, renders, packages or tools
	@cd $(ROOT) && rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .pulumi/tmp .toolchain/pulumi/logs \
	  .toolchain/build && find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
