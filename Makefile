# `make help` lists the targets. The environment is .venv/, data goes to var/ or to $COSQA_HOME.
.DEFAULT_GOAL := help
.PHONY: help demo docs references test quick test-postgres check lint types contracts run worker bench
.PHONY: desk keys protections honest hostile survive faults fuzz figures million raters rivals screenshots compose-smoke mteb open-server

PY := .venv/bin/python
export PYTHONUNBUFFERED := 1

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

.venv/.base: pyproject.toml constraints.txt
	@scripts/bootstrap base

.venv/.all: pyproject.toml constraints.txt
	@scripts/bootstrap all

demo: .venv/.base ## build the sample and serve it on http://127.0.0.1:8000
	@scripts/need-sandbox
	@$(PY) manage.py demo $(DEMO)

run: .venv/.base ## serve your own data on http://127.0.0.1:8000
	@$(PY) manage.py serve $(RUN)

worker: .venv/.base ## run the workers in the foreground
	@$(PY) manage.py work

test: .venv/.all ## run the whole test suite, or the part that PYTEST names: PYTEST="tests/retrieval -k budget"
	@scripts/need-sandbox
	@scripts/run-tests $(PYTEST)

quick: .venv/.all ## run the tests that need no database, browser, sandbox or server: minutes, for the work in between
	@scripts/run-tests --quick $(PYTEST)

# What tests commit may be lost with the machine: PostgreSQL need not wait for its disk.
test-postgres: .venv/.all ## run the tests that touch the database on the PostgreSQL of COSQA_TEST_DATABASE_URL
	@test -n "$$COSQA_TEST_DATABASE_URL" || { echo "make: set COSQA_TEST_DATABASE_URL, such as postgres://postgres@127.0.0.1:5432/postgres" >&2; exit 1; }
	@PGOPTIONS="-c synchronous_commit=off" DATABASE_URL=$$COSQA_TEST_DATABASE_URL scripts/run-tests --postgres $(PYTEST)

protections: .venv/.all ## run the hostile programs with each protection switched off, and all verdicts each way (minutes)
	@TESTS_WHOLE=yes .venv/bin/pytest tests/sandbox/backends/test_protections.py tests/sandbox/test_verdicts.py $(PYTEST)

keys: .venv/.all ## type 500 random sentences into review pages at random moments: no label may be stored (minutes)
	@TESTS_WHOLE=yes .venv/bin/pytest -n 0 --timeout 1800 tests/e2e/test_keys.py $(PYTEST)

desk: .venv/.all ## measure the review page with real pairs: what is seen at once, keys, time and clicks (minutes)
	@$(PY) scripts/measure_desk.py $(DESK)

honest: .venv/.all ## run all honest programs with a right and a wrong candidate in each kind of sandbox (minutes)
	@TESTS_WHOLE=yes .venv/bin/pytest -s -n 0 tests/sandbox/test_honest.py $(PYTEST)

docs: .venv/.all ## build the site of the documentation, which a server shows at /docs/
	@$(PY) scripts/build_docs.py

references: .venv/.all ## write the generated pages of docs/reference again
	@UPDATE_REFERENCES=1 .venv/bin/pytest -q -n 0 tests/site/test_references.py

hostile: .venv/.all ## run the hostile programs on both backends and write docs/hostile.md
	@$(PY) -m tests.sandbox.hostile_report

lint: .venv/.all
	@.venv/bin/ruff format --check . && .venv/bin/ruff check .
	@.venv/bin/djade --check $$(git ls-files 'templates/*.html')

types: .venv/.all
	@.venv/bin/mypy .

contracts: .venv/.all
	@.venv/bin/lint-imports
	@$(PY) manage.py makemigrations --check --dry-run
	@scripts/check-deploy

check: lint types contracts test ## everything that must be green before a commit

mteb: .venv/.all ## have MTEB measure a model on an exported folder, and compare with ours (its packages are a gigabyte)
	@scripts/measure-mteb $(PYTEST)

open-server: .venv/.all ## ask a real open server (transformers serve) with a tiny random model by chat completions (a gigabyte)
	@scripts/try-open-server $(PYTEST)

figures: .venv/.all ## reach the known figures of the whole real data, which takes MiniLM minutes
	@TESTS_WHOLE=yes .venv/bin/pytest tests/retrieval/test_real_data.py tests/site/test_real_build.py $(PYTEST)

bench: .venv/.all ## measure speed, as ratios
	@$(PY) manage.py bench

survive: .venv/.all ## kill callers and engines at full size: needs root, dockerd and Docker, takes minutes
	@scripts/need-sandbox
	@TESTS_WHOLE=yes .venv/bin/pytest tests/sandbox/test_survival.py $(PYTEST)

faults: .venv/.all ## kill workers, Redis and PostgreSQL 100 times under a build of 2,000 cases (half an hour)
	@$(PY) -m tests.faults.drive --cases 40 --kills 0 --lease 15 --stall 3 --minutes 4 --skew=-300
	@$(PY) -m tests.faults.drive $(FAULTS)

fuzz: .venv/.all ## import damaged files of every kind for an hour: nothing may raise, and no record be lost
	@$(PY) -m tests.fuzz.imports $(FUZZ)

million: .venv/.all ## import, mine, open, judge and export 1,000,000 functions and 100,000 queries (hours, 12 GB)
	@$(PY) manage.py bench million --size full

raters: .venv/.all ## let 20 raters rate for a minute on each database, over HTTP, and check that nothing is lost
	@RATERS_EXAMPLES=200 .venv/bin/pytest --timeout 1800 tests/annotation/studies/enrolment/test_queue_machine.py $(PYTEST)
	@$(PY) -m tests.raters.drive $(RATERS)

rivals: .venv/.all ## compare with Label Studio, doccano and Potato in one run and write docs/rivals.md (15 minutes)
	@$(PY) bench/rivals/compare.py --page docs/rivals.md $(RIVALS)

screenshots: .venv/.all ## take and check pictures of every page, at both widths, light and dark
	@scripts/need-chromium
	@$(PY) scripts/screenshots.py

compose-smoke: ## bring the whole stack up with docker-compose and run the sample through it
	@scripts/compose-smoke
