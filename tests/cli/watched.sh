#!/bin/sh
# watched.sh - what SPMD_WATCHDOG warns of, and how a run ends that SPMD_CHECK=1 finds wrong.
. "$(dirname "$0")/tap.sh"
program=$PWD/tests/cli/watched

# told NAME TEXT...: all of the texts stand in what the last command said.
told() {
    tap_name=$1 tap_verdict=0
    shift
    for text in "$@"; do
        grep -qF -e "$text" "$tmp/.err" || tap_verdict=1
    done
    tap_case "$tap_name" "$tap_verdict"
}

# watch CHECK SECONDS RANKS CASE
watch() {
    tap_run env SPMD_CHECK="$1" SPMD_WATCHDOG="$2" "$top/scripts/run" -t 60 "$3" "$program" "$4"
}

# slow CHECK: a long wait is warned of, and the run goes well.
slow() {
    watch "$1" 0.25 3 slow
    [ "$tap_status" -eq 0 ]
    tap_case "a slow rank is waited for, checks $1" $?
    told "a slow rank is warned of, checks $1" 'spmd: warning: waiting for ' \
        'rank 0 elsewhere (computing, or in another call), last in psum over x of f32[3] (watched.c:' \
        'ranks 1, 2 in pmax over x of f32[3] (watched.c:'
}

# slow_reshard CHECK: the same of a planned reshard.
slow_reshard() {
    watch "$1" 0.25 3 slow_reshard
    [ "$tap_status" -eq 0 ]
    tap_case "a slow rank is waited for in a reshard, checks $1" $?
    told "a slow rank is warned of in a reshard, checks $1" 'spmd: warning: waiting for ' \
        'rank 0 elsewhere (computing, or in another call)' \
        'ranks 1, 2 in reshard f32[9,7] from P(x) to P(-, x) (watched.c:'
}

# wrong CASE TEXT...: on 3 ranks, one message with all texts in it, and a status that is not 0.
wrong() {
    name=$1
    shift
    watch 1 '' 3 "$name"
    [ "$tap_status" -ne 0 ] && [ "$(grep -c '^spmd: error: ' "$tmp/.err")" -eq 1 ]
    tap_case "$name: told once" $?
    told "$name: who is where" "$@"
}

watch 1 60 3 well
[ "$tap_status" -eq 0 ] && ! grep -q spmd: "$tmp/.err"
tap_case 'nothing wrong, nothing said' $?
watch '' 0.01 1 well
[ "$tap_status" -eq 0 ]
tap_case 'a single rank' $?

slow 0
slow 1
slow_reshard 0
slow_reshard 1
wrong early 'no rank can go on: rank 0 at the end of the body of spmd_shard_map (watched.c:' \
    'ranks 1, 2 in psum over x of f32[3] (watched.c:'
wrong alone 'rank 0: nothing to do here' 'spmd: warning: rank 0 waits for the others, ' \
    'out of the body of spmd_shard_map (watched.c:' 'with: nothing to do here'
wrong another_start 'ranks that belong together are in different calls: ' \
    'rank 0 in psum_start over x of f32[3] (watched.c:' \
    'ranks 1, 2 in pmax_start over x of f32[3] (watched.c:'
wrong start_alone 'no rank can go on: rank 0 in spmd_wait for psum_start over x of f32[3] (watched.c:' \
    'ranks 1, 2 at the end of the body of spmd_shard_map'

watch 2 '' 3 well
[ "$tap_status" -ne 0 ]
tap_case 'SPMD_CHECK=2 fails' $?
told 'SPMD_CHECK=2 is refused' 'spmd: error: SPMD_CHECK=2 in the environment: it is 0 or 1'
watch '' soon 3 well
[ "$tap_status" -ne 0 ]
tap_case 'SPMD_WATCHDOG=soon fails' $?
told 'SPMD_WATCHDOG=soon is refused' \
    'spmd: error: SPMD_WATCHDOG=soon in the environment: it is a number of seconds'
plan_end
