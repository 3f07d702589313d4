#!/bin/sh
# Runs the gridworld study in parts with GNU parallel, and joins them.
#
# Usage: scripts/scale-out/parallel.sh OUT [FLAG...]
#
#   OUT    the folder for the results; the parts are kept in OUT.parts
#   FLAG   flags of `brex reproduce gridworld`, like --worlds 1000
#
# Environment:
#   SHARDS    how many parts (16)
#   THREADS   threads of each part (1)
#   BREX      the brex to run (brex)
#   PARALLEL  flags for GNU parallel itself, like --jobs 8
#
# After a stop or a failure the same command goes on: finished worlds are skipped.
set -eu

if [ $# -eq 0 ]; then
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
out=$1
shift
shards=${SHARDS:-16}
brex=${BREX:-brex}

mkdir -p "$out.parts"
# -q keeps the flags as they are. What a part prints is only that it is done. A failed part does
# not stop the others, but it stops the merge.
seq "$shards" | parallel -q --line-buffer --tagstring 'part {}' \
    "$brex" reproduce gridworld "$@" --threads "${THREADS:-1}" \
    --shard "{}/$shards" --out "$out.parts/part-{}" > /dev/null

"$brex" merge --force --out "$out" "$out.parts"/part-*/
# A merge of too few parts is no error to brex: it writes no results, and the study can go on.
[ -e "$out/summary.json" ]
