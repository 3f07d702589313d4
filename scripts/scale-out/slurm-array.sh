#!/bin/sh
#SBATCH --job-name=brex-gridworld
#SBATCH --array=1-16
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
#
# Runs the gridworld study as a SLURM array job, one task per part, and joins the parts in a job
# that waits for the array.
#
# Usage: scripts/scale-out/slurm-array.sh OUT [FLAG...]
#
#   OUT    the folder for the results, on a file system that all nodes see; the parts and the
#          output of the jobs are kept in OUT.parts
#   FLAG   flags of `brex reproduce gridworld`, like --worlds 1000
#
# Environment:
#   SHARDS    how many parts (16, as in the --array line above)
#   BREX      the brex to run (brex)
#   SBATCH_*  what sbatch reads itself: SBATCH_PARTITION, SBATCH_ACCOUNT, SBATCH_TIMELIMIT, ...
#
# After a stop or a failure the same command goes on: finished worlds are skipped.
set -eu

if [ $# -eq 0 ]; then
    sed -n '/^# Runs/,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
out=$1
shift
SHARDS=${SHARDS:-16}
BREX=${BREX:-brex}

# A task of the array: SLURM runs this script again, with the same arguments. `exec` makes brex
# the process that SLURM signals.
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
    exec "$BREX" reproduce gridworld "$@" --threads "${SLURM_CPUS_PER_TASK:-1}" \
        --shard "$SLURM_ARRAY_TASK_ID/$SHARDS" --out "$out.parts/part-$SLURM_ARRAY_TASK_ID"
fi

# The user: submit both jobs. They inherit the environment.
mkdir -p "$out.parts"
export SHARDS BREX OUT="$out"
array=$(sbatch --parsable --export=ALL --array="1-$SHARDS" \
    --output="$out.parts/part-%a.log" "$0" "$out" "$@")
array=${array%%;*} # on a federation the cluster's name follows
merge=$(sbatch --parsable --export=ALL --job-name=brex-merge --open-mode=append \
    --output="$out.parts/merge.log" \
    --dependency="afterok:$array" --kill-on-invalid-dep=yes <<'END'
#!/bin/sh
set -eu
"$BREX" merge --force --out "$OUT" "$OUT.parts"/part-*/
# A merge of too few parts is no error to brex: it writes no results, and the study can go on.
[ -e "$OUT/summary.json" ]
END
)
echo "parts: job $array"
echo "merge: job ${merge%%;*}"
