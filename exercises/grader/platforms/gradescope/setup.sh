#!/usr/bin/env bash
# Run once by Gradescope, when the image is built: a Python of 3.11 or newer, with NumPy.
set -euo pipefail
root=${AUTOGRADER_ROOT:-/autograder}

new_enough() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}
find_python() {
  for python in python3 python3.14 python3.13 python3.12 python3.11; do
    if new_enough "$python"; then echo "$python"; return; fi
  done
  return 1
}

if ! find_python >/dev/null; then
  apt-get update
  apt-get install -y python3 python3-venv
  find_python >/dev/null || apt-get install -y python3.11 python3.11-venv
fi
"$(find_python)" -m venv "$root/venv"
"$root/venv/bin/pip" install 'numpy>=2.0'@packages@
