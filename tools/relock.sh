#!/bin/sh
# Writes locks/*.txt anew: one resolution for every Python and platform we support, hashes in, no host named.
set -eu
cd "$(dirname "$0")/.."
uv=${UV:-.venv/bin/uv}
# `fewest`: one version of each package for all Pythons where there is one. Otherwise numpy, which drops Pythons early,
# would be an older one on 3.11 than on 3.12, and what mypy finds in our code would depend on who runs it.
# Extras stay in the names (`httpx2[http2]==…`): without them pip takes what asks for the extra as one more requirement,
# one without a hash, as soon as there is a newer version.
compile() {
    "$uv" pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
        --no-strip-extras --no-emit-index-url --no-emit-find-links --no-header "$@"
}
compile pyproject.toml --output-file locks/runtime.txt
compile --group build --output-file locks/build.txt
compile pyproject.toml --extra testing --group dev --constraints locks/runtime.txt --constraints locks/build.txt --output-file locks/dev.txt
compile pyproject.toml --group bench --constraints locks/runtime.txt --output-file locks/bench.txt
compile --group lock --output-file locks/lock.txt
