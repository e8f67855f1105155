#!/usr/bin/env bash
# Runs everything: lint, types, tests. Makes its own virtual environment and brings a chromium
# where none is installed. Arguments are handed to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
venv=${NIKA_TEST_VENV:-.venv-test}

if [ ! -x "$venv/bin/python" ]; then
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --upgrade pip
fi
"$venv/bin/python" -m pip install --quiet --editable '.[test]'

if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing chromium for the browser tests"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
  else
    echo "no chromium found: install one, or the browser tests will fail" >&2
  fi
fi

export PATH="$PWD/$venv/bin:$PATH"
ruff check .
ruff format --check .
mypy
exec python -m pytest -q -n "${NIKA_TEST_WORKERS:-2}" --dist loadfile "$@"
