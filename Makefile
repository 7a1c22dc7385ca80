# What a developer runs. Each makes .venv first, where it is missing or older than what it is made from.

BIN := .venv/bin
INSTALLED := .venv/.installed

# Tests and benchmarks start the program many hundred times: it is compiled once.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check docs coverage lab fuzz bench dist clean

demo: $(INSTALLED)          ## the tour that comes with the program
	@$(BIN)/ocmlview demo

test: $(INSTALLED)          ## all tests but the long campaigns
	@$(BIN)/python -m pytest -n 3 --dist worksteal -m "not lab"

check: $(INSTALLED)         ## format, lint, types and the quick tests
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy & types=$$!; $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not lab"; tests=$$?; \
		wait $$types && exit $$tests

docs: $(INSTALLED)          ## what of the documentation is made from the code: pages, man page, pictures
	@OCML_UPDATE=1 $(BIN)/python -m pytest tests/docs tests/screens/test_pictures.py

coverage: $(INSTALLED)      ## branches up to formats, and of the two files that keep people safe
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -n 2 -m "not slow and not lab" --ignore=tests/screens
	@$(BIN)/coverage combine --quiet
	@printf 'viewer/model to viewer/formats, at least 95 %%: '
	@$(BIN)/coverage report --format=total --precision=1 --fail-under=95 --include='viewer/model/*,viewer/rules/*,viewer/syntax/*,viewer/reading/*,viewer/index/*,viewer/scan/*,viewer/tools/*,viewer/checks/*,viewer/formats/*'
	@printf 'visibility.py and safe_text.py, 100 %%: '
	@$(BIN)/coverage report --format=total --fail-under=100 --include=viewer/model/visibility.py,viewer/render/sanitize.py

lab: $(INSTALLED)           ## the long campaigns
	@$(BIN)/python -m pytest -m lab

fuzz: $(INSTALLED)          ## inputs made at random, for an hour or OCML_FUZZ_SECONDS
	@$(BIN)/python -m tests.fuzz

bench: $(INSTALLED)         ## speed, beside what else is installed; QUICK=1 for a minute, WRITE=1 into the pages
	@$(BIN)/python -m tests.benchmarks $(if $(QUICK),--quick) $(if $(WRITE),--write) $(GROUPS)

dist: $(INSTALLED)          ## the wheel and the sdist
	@$(BIN)/python -m hatchling build

$(INSTALLED): pyproject.toml constraints.txt .ci/install
	@sh .ci/install
	@touch $@

clean:
	rm -rf .venv dist
