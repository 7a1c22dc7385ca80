# What a developer runs. Each makes .venv first, where it is missing or older than what it is made from.

BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test check lab bench clean

demo: $(INSTALLED)          ## the tour that comes with the program
	@$(BIN)/ocmlview demo

test: $(INSTALLED)          ## all tests but the long campaigns
	@$(BIN)/python -m pytest -n 2 -m "not lab"

check: $(INSTALLED)         ## format, lint, types and the quick tests
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -n 2 -m "not slow and not lab"

lab: $(INSTALLED)           ## the long campaigns
	@$(BIN)/python -m pytest -m lab

bench: $(INSTALLED)         ## speed, beside what else is installed
	@$(BIN)/python -m tests.benchmarks

$(INSTALLED): pyproject.toml constraints.txt .ci/install
	@sh .ci/install
	@touch $@

clean:
	rm -rf .venv
