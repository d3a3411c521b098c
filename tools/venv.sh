#!/bin/sh
# Makes the virtual environment, or says in one line what is missing.
set -eu
venv=$1
python=${PYTHON:-python3}

die() {
    echo "bayplan: $1" >&2
    exit 1
}

command -v "$python" >/dev/null 2>&1 ||
    die "no $python on the PATH; install Python 3.11 or later, or name one: make PYTHON=/path/to/python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    die "$("$python" --version 2>&1) is too old; install Python 3.11 or later, or name one: make PYTHON=python3.13"
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
    die "$python has no venv or pip; install them (on Debian and Ubuntu: apt-get install python3-venv)"
"$python" -m venv --clear "$venv" || die "could not make $venv; is the directory writable, is the disk full?"
