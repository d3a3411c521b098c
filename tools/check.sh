#!/bin/sh
# The gate. Every step runs even when an earlier one failed, so that one run names all there is to mend.
set -u
cd "$(dirname "$0")/.."
bin=.venv/bin
failed=""

step() {
    name=$1
    shift
    began=$(date +%s)
    if output=$("$@" 2>&1); then
        printf 'ok      %-8s %3d s\n' "$name" $(($(date +%s) - began))
    else
        printf 'FAILED  %-8s %3d s: %s\n%s\n' "$name" $(($(date +%s) - began)) "$*" "$output"
        failed="$failed $name"
    fi
}

step format "$bin/ruff" format --check .
step lint "$bin/ruff" check .
step layers "$bin/lint-imports"
step types "$bin/mypy"
step links "$bin/python" tools/check_docs.py
step docs "$bin/python" -m pytest -q -p no:randomly README.md CONTRIBUTING.md docs

if [ -n "$failed" ]; then
    echo "make check failed:$failed (make format mends most of format and lint)" >&2
    exit 1
fi
