# The commands of this project. Each first installs what it needs and the machine lacks (scripts/setup).
.PHONY: build demo test check-long

build:
	@scripts/setup build
	@scripts/build release product

demo:
	@scripts/setup demo
	@scripts/build release product example_ocr
	@.venv/bin/python scripts/demo.py

test:
	@scripts/setup test
	@scripts/run_tests

check-long:
	@scripts/setup check-long
	@scripts/run_long_checks
