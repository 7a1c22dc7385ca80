# Commands for developers. Each creates or updates .venv first if necessary.

BIN := .venv/bin
INSTALLED := .venv/.installed

# Tests and benchmarks start the program hundreds of times, so it is compiled once. Some tests wait for other processes
# most of the time, so there are more test processes than cores. Type checking takes one core first, because only one
# process can do it; the tests can use both cores afterwards. In a fresh clone, pytest needs 6 s to rewrite all assertions,
# so the quick tests run without that. Those that fail run again, to show the values. A test that takes 5 minutes hangs:
# it fails and shows where, so that a run always ends.
PYTEST := $(BIN)/python -m pytest -o faulthandler_timeout=300 -o faulthandler_exit_on_timeout=true
QUICK_TESTS := $(PYTEST) -m "not slow and not lab"
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check docs coverage lab fuzz sanitize bench dist clean

demo: $(INSTALLED)          ## show the bundled tour
	@$(BIN)/ocmlview demo

test: $(INSTALLED)          ## all tests except the long campaigns
	@$(PYTEST) --processes 6 -m "not lab"

check: $(INSTALLED)         ## format, lint, types, and the quick tests
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy & types=$$!; nice -n 5 $(QUICK_TESTS) --processes 6 --assert=plain --tb=short || \
		{ $(QUICK_TESTS) --last-failed --last-failed-no-failures=none; false; }; tests=$$?; wait $$types && exit $$tests

docs: $(INSTALLED)          ## regenerate pages, man page, and pictures from the code
	@OCML_UPDATE=1 $(BIN)/python -m pytest tests/docs tests/screens/test_pictures.py

coverage: $(INSTALLED)      ## branch coverage of the layers up to formats, and of the files that safety depends on
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest --processes 2 -m "not slow and not lab" --ignore=tests/screens
	@$(BIN)/coverage combine --quiet
	@printf 'viewer/model to viewer/formats, at least 95 %%: '
	@$(BIN)/coverage report --format=total --precision=1 --fail-under=95 --include='viewer/model/*,viewer/rules/*,viewer/syntax/*,viewer/reading/*,viewer/index/*,viewer/scan/*,viewer/tools/*,viewer/checks/*,viewer/formats/*'
	@printf 'visibility.py and sanitize.py, 100 %%: '
	@$(BIN)/coverage report --format=total --fail-under=100 --include=viewer/model/visibility.py,viewer/render/sanitize.py

lab: $(INSTALLED)           ## the long campaigns
	@$(BIN)/python -m pytest -m lab
	@OCML_SURFACES=all $(BIN)/python -m pytest -m "surfaces and not lab"
	@OCML_EXAMPLES=many $(BIN)/python -m pytest -m "hypothesis and not lab"

fuzz: $(INSTALLED)          ## random inputs, for an hour or OCML_FUZZ_SECONDS
	@$(BIN)/python -m tests.fuzz

sanitize: $(INSTALLED)      ## test the native accelerator with the sanitizers of gcc, for 10 minutes or OCML_FUZZ_SECONDS
	@sh .ci/sanitize

bench: $(INSTALLED)         ## measure speed and compare it with installed peers; QUICK=1 takes a minute, WRITE=1 updates the pages
	@$(BIN)/python -m tests.benchmarks $(if $(QUICK),--quick) $(if $(WRITE),--write) $(GROUPS)

dist: $(INSTALLED)          ## the wheel and the sdist
	@$(BIN)/python -m hatchling build

$(INSTALLED): pyproject.toml constraints.txt .ci/install hatch_build.py viewer/native/_fast.c viewer/native/_proof.c \
		viewer/native/_records.c viewer/native/_strings.c
	@sh .ci/install
	@touch $@

clean:
	rm -rf .venv dist viewer/native/*.so
