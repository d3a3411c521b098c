#!/bin/sh
# Writes locks/*.txt anew: one resolution for every Python and platform we support, hashes in, no host named.
set -eu
cd "$(dirname "$0")/.."
uv=${UV:-.venv/bin/uv}
compile() {
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --no-header "$@"
}
compile pyproject.toml --output-file locks/runtime.txt
compile --group build --output-file locks/build.txt
compile pyproject.toml --extra testing --group dev --constraints locks/runtime.txt --constraints locks/build.txt --output-file locks/dev.txt
compile pyproject.toml --group bench --constraints locks/runtime.txt --output-file locks/bench.txt
compile --group lock --output-file locks/lock.txt
