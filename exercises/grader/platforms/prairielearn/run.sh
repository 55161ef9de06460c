#!/usr/bin/env bash
# Run by PrairieLearn for each submission; the exercises of the question are its arguments.
set -euo pipefail
root=${GRADE_ROOT:-/grade}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# The platform's container is the wall. No other user in it may read the checks or the results.
mkdir -p "$root/results"
chmod go= "$here" "$root/results"
python3 -B "$here/exercises/run.py" grade "$root/student" --no-wall \
  ${1:+--only "$1"} --prairielearn "$root/results/results.json"
