#!/usr/bin/env bash
# Run by Gradescope for each submission.
set -euo pipefail
root=${AUTOGRADER_ROOT:-/autograder}
python=$root/venv/bin/python
[ -x "$python" ] || python=python3

# The platform's container is the wall. No other user in it may read the checks or the results.
mkdir -p "$root/results"
chmod go= "$root/source" "$root/results"
"$python" -B "$root/source/exercises/run.py" grade "$root/submission" --no-wall \
  --only @exercises@ --gradescope "$root/results/results.json"
