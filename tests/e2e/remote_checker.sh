#!/bin/bash
# Whatever goes wrong, what is read can be explained by what was written: several processes read and
# write one export at once while the device fails, the target is stopped, restarted or killed and writers are
# killed; rdmablk-checker verifies the history of all of them.
#
# Environment:
#   RDMABLK_TEST_BACKING   what is exported; memory, of resident exports too, is kept for the next target
#   FAULTS     how many faults there are to be (200): those that break something. Delays and the like
#              come on top, and are counted apart.
#   CHECKERS   processes that read and write (3)
#   CHECKER    more arguments for each of them
#   EXPORT     more options of the export
#   UNFENCED   parts of the fencing that the target leaves out (tests/faults/fencing_by_environment.cpp):
#              the test passes when that is noticed
#   SLOW_DISK  milliseconds that a write to the disk behind the export takes at most, at random
#   PLAN       the device's faults (common/softverbs/faults/README.md) in place of the usual mixture
#   SEED       what all that is random follows from; a failure tells its own
# shellcheck source=tests/e2e/keeper_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/keeper_lib.sh"
# shellcheck source=tests/e2e/faults_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/faults_lib.sh"

wanted=${FAULTS:-200}
checkers=${CHECKERS:-3}
seed=${SEED:-$SRANDOM}
RANDOM=$((seed % 32768))
read -r -a checker_arguments <<<"${CHECKER:-}"
start_remote

history=$scratch/history
faults=$scratch/faults         # a line for each fault that the device has had
own_faults=0                   # what this script has done
declare -A own                 # likewise, by kind
restarts=0                     # of the target among it
declare -a workers=()
verifier=
usual_plan="error:rate=1/4000, qp-death:rate=1/4000, late-write:rate=1/3000:ms=40, post-full:rate=1/20000,
  delay:rate=1/50:us=500, poll-short:rate=1/20, reorder:rate=1/20, spurious-event:rate=1/20,
  async-event:rate=1/5000, stall:rate=1/6000:ms=20, cm-lost:rate=1/60, cm-reject:rate=1/20"

# plan TEXT: what goes wrong from now on.
plan() {
  printf 'log=%s, cm-timeout=500\n%s\n' "$faults" "$1" >"$scratch/plan.new"
  mv "$scratch/plan.new" "$scratch/plan"
}

breaking_faults() { grep --count --word-regexp --extended-regexp \
  'error|qp-death|late-write|post-full|stall|cm-lost|cm-reject' "$faults" || true; }

note() {
  own[$1]=$((${own[$1]:-0} + 1))
  own_faults=$((own_faults + 1))
}

# leave_out PARTS: from here on the target is the one without some of its fencing.
leave_out() {
  mkdir "$scratch/unfenced"
  printf '#!/bin/sh\nRDMABLK_UNFENCED=%s exec %s "%s" "$@"\n' "$1" "${RDMABLK_TEST_RUNNER:-}" \
    "$tools_bin/rdmablk-target-unfenced" >"$scratch/unfenced/rdmablk-target"
  chmod +x "$scratch/unfenced/rdmablk-target"
  RDMABLK_BIN=$scratch/unfenced
}

# The verifier has ended.
judge() {
  local violation
  violation=$(grep --after-context=30 "cannot be explained" "$scratch/verified") ||
    fail "seed $seed: the verifier ended: $(tail -n 5 "$scratch/verified")"
  [[ -n ${UNFENCED:-} ]] || fail "seed $seed: $violation"
  echo "noticed after $(($(breaking_faults) + own_faults)) faults that $UNFENCED is off:" \
    "$(head --lines=1 <<<"$violation")"
  exit 0
}

runner() { exec ${RDMABLK_TEST_RUNNER:+"$RDMABLK_TEST_RUNNER"} "$@"; }

start_worker() {
  runner "$tools_bin/rdmablk-checker" run "$(uri disk)" --history "$history" --threads 2 --depth 8 \
    --give-up 20 --seed "$RANDOM" "${checker_arguments[@]}" 2>>"$scratch/workers.log" &
  workers+=($!)
  test_pids+=($!)
}

start_verifier() {
  # One lane more than is needed for each worker: a killed one's is free once its death was noticed.
  "$tools_bin/rdmablk-checker" verify "$history" --lanes $((4 * checkers)) --blocks 16 --block-words 8 \
    --offset 4194176 --repeated >"$scratch/verified" 2>&1 &
  verifier=$!
  test_pids+=("$verifier")
  wait_until "the history is there" test -e "$history"
}

# What this script does wrong itself.
kill_worker() {
  local which=$((RANDOM % ${#workers[@]})) pid
  pid=${workers[$which]}
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null || true
  unset "workers[$which]"
  workers=("${workers[@]}")
  start_worker
  note worker-killed
}

stop_for_a_while() {
  kill -STOP "$target_pid"
  sleep 0.0$((RANDOM % 10))
  kill -CONT "$target_pid"
  note target-stopped
}

# restart SIGNAL
restart() {
  restart_target "$1"
  restarts=$((restarts + 1))
  note "target-restarted-$1"
}

# A target without fencing leaves nothing to the next one.
may_restart() { [[ -z ${UNFENCED:-} ]]; }

go_wrong() {
  case $((RANDOM % 8)) in
    0 | 1) kill_worker ;;
    2 | 3) ! may_restart || restart KILL ;;
    4) ! may_restart || restart TERM ;;
    *) stop_for_a_while ;;
  esac
}

operations() { "$tools_bin/rdmablk-checker" status "$history"; }

# blame WORKER: it has ended; in good order when the verifier told all to, which then ends, too.
blame() {
  wait "$1" || fail "seed $seed: a worker ended: $(tail -n 5 "$scratch/workers.log")"
  wait "$verifier" || true
  judge
}

# Whether the verifier, all workers and the target are there.
all_are_well() {
  local pid
  is_running "$verifier" || judge
  (($(keeper_says ended) == restarts)) || fail "seed $seed: the target ended: $(tail -n 20 "$target_log")"
  for pid in "${workers[@]}"; do
    is_running "$pid" || blame "$pid"
  done
}

choose_port
[[ -z ${UNFENCED:-} ]] || leave_out "$UNFENCED"
: >"$faults"
plan ""
export SOFTVERBS_FAULTS=@$scratch/plan SOFTVERBS_SEED=$seed
if [[ -n ${SLOW_DISK:-} ]]; then
  make_disk 16M
  power_on --alignment 512
  order "jitter write $SLOW_DISK"
  exported=$(export_of disk "$disk")
else
  exported=$(export_spec disk 16M)
fi
exported+=${EXPORT:+,$EXPORT}
start_keeper --export "$exported"
start_verifier
for ((i = 0; i < checkers; ++i)); do start_worker; done
step=1000 # operations that show that the work goes on
[[ -z ${SLOW_DISK:-} ]] || step=50
work_has_gone_on() { (($(operations) > before + step)); }
before=0
wait_until "the workers work" work_has_gone_on

plan "${PLAN:-$usual_plan}"
while (($(breaking_faults) + own_faults < wanted)); do
  sleep 0.1
  all_are_well
  go_wrong
done

# When nothing goes wrong any more, all of them work again.
plan ""
all_are_well
before=$(operations)
wait_until "the work goes on after the faults" work_has_gone_on
kill -TERM "${workers[@]}"
for pid in "${workers[@]}"; do
  status=0
  wait "$pid" || status=$?
  # One that has just been started may not be able to end in good order yet.
  [[ $status == @(0|143) ]] ||
    fail "seed $seed: a worker ended with status $status: $(tail -n 5 "$scratch/workers.log")"
done
kill -TERM "$verifier"
wait "$verifier" || judge
stop_keeper
[[ -z ${UNFENCED:-} ]] || fail "seed $seed: $wanted faults, and nobody noticed that $UNFENCED is off"

echo "$(tail -n 1 "$scratch/verified") (seed $seed)"
echo "$(($(breaking_faults) + own_faults)) faults, and $(grep --count --invert-match --word-regexp \
  --extended-regexp 'error|qp-death|late-write|post-full|stall|cm-lost|cm-reject' "$faults") nuisances:"
cut --delimiter ' ' --fields 3 "$faults" | sort | uniq --count
for kind in "${!own[@]}"; do printf '%7d %s\n' "${own[$kind]}" "$kind"; done
