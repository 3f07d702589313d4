#!/bin/sh
# Tries slurm-array.sh on a real SLURM: a controller and one node on this machine.
#
# Usage: scripts/scale-out/try-slurm.sh      (as root, on Debian)
#
# Environment:
#   BREX     the brex to try (target/release/brex)
#   SHARDS   how many parts (4)
#   WORLDS   how many worlds (100)
#
# Submits the study, kills one task with kill -9 and cancels another one midway, submits it again,
# and compares what comes out with a study that was run in one go, byte for byte. SLURM has its
# configuration, keys, sockets and state in a temporary folder, which is removed at the end.
# Installs the packages munge, slurmctld, slurmd and slurm-client if they are not there.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
BREX=$(realpath -m "${BREX:-$here/../../target/release/brex}")
SHARDS=${SHARDS:-4}
WORLDS=${WORLDS:-100}
export BREX SHARDS

say() { echo "== $*"; }
fail() {
    echo "failed: $*" >&2
    tail -n 20 "$work"/*.log "$work"/study.parts/*.log >&2 || true
    exit 1
}

# wait_until SECONDS WHAT COMMAND...: until the command succeeds
wait_until() {
    tries=$(($1 * 10)) what=$2
    shift 2
    until "$@" > /dev/null 2>&1; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || fail "waited in vain for: $what"
        sleep 0.1
    done
}

[ "$(id -u)" -eq 0 ] || { echo "this has to be run as root" >&2; exit 2; }
[ -x "$BREX" ] || { echo "$BREX: build it with cargo build --release, or set BREX" >&2; exit 2; }
missing=
for program in munged slurmctld slurmd sbatch; do
    command -v "$program" > /dev/null || missing="$missing $program"
done
if [ -n "$missing" ]; then
    say "installing$missing"
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends \
        munge slurmctld slurmd slurm-client > /dev/null
fi

work=$(mktemp -d)
chmod 755 "$work" # munge refuses a socket that others cannot reach
daemons=
stop() {
    if [ -n "$daemons" ]; then
        scancel --user=root --quiet || true
        for _ in $(seq 100); do # without its daemons, a task would live on
            [ -n "$(squeue --noheader 2> /dev/null)" ] || break
            sleep 0.1
        done
    fi
    for daemon in $daemons; do # the last one started is the first one stopped
        kill "$daemon" 2> /dev/null || true
        wait "$daemon" || true
    done
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

mkdir "$work/state" "$work/spool"
# Ports of its own, so that a SLURM that is there already is not disturbed.
node=$(hostname -s)
cpus=$(nproc)
cat > "$work/slurm.conf" <<END
ClusterName=try
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2
KillWait=5
ReturnToService=2
MpiDefault=none
NodeName=$node NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
END
# Before anything is started, so that no command here can reach another SLURM.
export SLURM_CONF="$work/slurm.conf"

say "starting munged, slurmctld and slurmd"
(umask 077 && head -c 1024 /dev/urandom > "$work/munge.key")
munged --foreground --key-file="$work/munge.key" --socket="$work/munge.socket" \
    --pid-file="$work/munged.pid" --seed-file="$work/munge.seed" \
    --log-file="$work/munged.log" > "$work/munged.out" 2>&1 &
daemons="$! $daemons"
wait_until 20 "munge" munge --socket="$work/munge.socket" --no-input
slurmctld -D > "$work/slurmctld.out" 2>&1 &
daemons="$! $daemons"
wait_until 30 "slurmctld" scontrol ping
slurmd -D > "$work/slurmd.out" 2>&1 &
daemons="$! $daemons"
node_is_idle() { [ "$(sinfo --noheader --format=%T)" = idle ]; }
wait_until 60 "an idle node" node_is_idle
sinfo --version
sinfo

lines() { if [ -e "$1" ]; then wc -l < "$1"; else echo 0; fi; }
units() { echo "$work/study.parts/part-$1/units.jsonl"; }
has_units() { [ "$(lines "$(units "$1")")" -gt 0 ]; }
ended() { ! squeue --noheader --states=all --jobs="$1" --format=%T |
    grep --quiet --invert-match --extended-regexp 'COMPLETED|FAILED|CANCELLED|TIMEOUT'; }
states() { squeue --noheader --states=all --array --jobs="$1" --format='%i %K %T' | sort -n -k 2; }
state_of_task() { states "$1" | awk -v task="$2" '$2 == task { print $3 }'; }
submit() {
    "$here/slurm-array.sh" "$work/study" --worlds "$WORLDS" > "$work/submitted"
    array=$(sed -n 's/^parts: job //p' "$work/submitted")
    merge=$(sed -n 's/^merge: job //p' "$work/submitted")
    say "submitted: parts are job $array, merge is job $merge"
}
submit

wait_until 120 "units of part 1" has_units 1
job=$(scontrol --oneliner show job "${array}_1" | sed -n 's/^JobId=\([0-9]*\) .*/\1/p')
victim=$(scontrol listpids "$job" | awk 'NR > 1 { print $1 }' |
    while read -r pid; do
        [ "$(readlink "/proc/$pid/exe")" = "$BREX" ] && echo "$pid"
    done)
kill -9 "$victim"
wait_until 120 "units of part 2" has_units 2
scancel "${array}_2"
wait_until 600 "the end of the array" ended "$array"
wait_until 60 "the end of the merge" ended "$merge"
states "$array"
states "$merge"
[ "$(state_of_task "$array" 1)" = FAILED ] || fail "task 1 was killed"
[ "$(state_of_task "$array" 2)" = CANCELLED ] || fail "task 2 was cancelled"
[ "$(state_of_task "$array" 3)" = COMPLETED ] || fail "task 3 was left alone"
[ ! -e "$work/study" ] || fail "there are results, but not all parts"
for part in $(seq "$SHARDS"); do
    echo "part $part: $(lines "$(units "$part")") units"
    cp --preserve=timestamps "$(units "$part")" "$work/before-$part"
done

submit
wait_until 600 "the end of the array" ended "$array"
wait_until 60 "the end of the merge" ended "$merge"
states "$array"
states "$merge"
for part in $(seq "$SHARDS"); do
    file=$(units "$part")
    before=$(lines "$work/before-$part")
    after=$(lines "$file")
    echo "part $part: $after units"
    # Kept lines stay where they are, and no unit is there twice: what was finished is not redone.
    head -n "$before" "$work/before-$part" > "$work/kept"
    head -n "$before" "$file" | cmp - "$work/kept" || fail "part $part lost finished units"
    [ "$(cut -d, -f1 "$file" | sort -u | wc -l)" -eq "$after" ] || fail "part $part has units twice"
    case $part in
    1 | 2) [ "$after" -gt "$before" ] || fail "part $part was not stopped midway" ;;
    *) [ ! "$file" -nt "$work/before-$part" ] || fail "part $part was finished, yet written to" ;;
    esac
done

say "the same study in one go"
"$BREX" reproduce gridworld --worlds "$WORLDS" --out "$work/single" --quiet > /dev/null
# Left out: the lock of a running study, and the mark by which brex merge knows its folders.
diff --recursive --exclude=.lock --exclude=.brex "$work/single" "$work/study" ||
    fail "the results differ"
(cd "$work/study" && wc -c -- *)
say "passed: killed, resumed and merged results are the same bytes"
