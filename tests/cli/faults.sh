#!/bin/sh
# faults.sh - runs that are killed in the midst of a save: what was there before is whole, the next
# save removes what they left, and nothing else of them stays.
. "$(dirname "$0")/tap.sh"
program=$PWD/tests/cli/faults
seed=${TEST_SEED:-1} runs=0
echo "# TEST_SEED=$seed"

# die WHAT WHOM MOMENT SEED: in a directory of its own, on 2 or 3 ranks; on 1 too, where all die.
die() {
    directory=$tmp/$1/$2-$3
    case $2 in
    one) ranks=$((2 + $3 % 2)) ;;
    all) ranks=$((1 + $3 % 3)) ;;
    esac
    mkdir -p "$directory"
    run "$ranks" "$program" die "$1" "$2" "$4" "$directory" >"$directory.out" 2>&1
    echo $? >"$directory.status"
}

# killed N WHAT WHOM: at N moments, some at a time, since a run needs a second to end, but no core.
killed() {
    moment=0
    while [ $moment -lt "$1" ]; do
        die "$2" "$3" $moment $((seed * 1000 + runs)) &
        moment=$((moment + 1)) runs=$((runs + 1))
        [ $((moment % 5)) -ne 0 ] || wait
    done
    wait
    cat "$tmp/$2/$3"-*.out >"$tmp/.out"
    grep -h ' at call ' "$tmp/$2/$3"-*.end >"$tmp/.err"
    [ "$(wc -l <"$tmp/.err")" -eq "$1" ] && ! grep -qx 0 "$tmp/$2/$3"-*.status
    tap_case "$2: $3 killed at $1 moments" $?
}

# quiet: within some seconds no process is left that has a directory of this test in its arguments.
quiet() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        left=
        for process in $(grep -lsF -e "$tmp/" /proc/[0-9]*/cmdline); do
            [ ! -e "$process" ] || left="$left $process" # grep itself is gone
        done
        [ -n "$left" ] || return 0
        sleep 0.5
    done
    echo "still there: $left" >&2
    return 1
}

# swept: nothing is left of the shared memory that the runs had. (The semaphores of Open MPI's files
# are there for a moment only.)
swept() {
    sed -n '/sem\./d; s|.* \(/dev/shm/[^ ]*\)$|\1|p' "$tmp"/*/*.end | sort -u >"$tmp/.mapped"
    while read -r segment; do
        [ ! -e "$segment" ] || return 1
    done <"$tmp/.mapped"
}

# leftovers: files that were written aside.
leftovers() {
    find "$tmp/checkpoint" -name '*.tmp-*' | grep .
}

killed 20 checkpoint one
killed 20 checkpoint all
killed 5 file one
killed 5 file all
ok 'no process is left' quiet
ok 'no shared memory is left' swept
ok 'what was written aside is left' leftovers
ok 'what was there is whole, checkpoint' run 2 "$program" look checkpoint "$tmp"/checkpoint/*/
ok 'what was there is whole, file' run 2 "$program" look file "$tmp"/file/*/
not_ok 'what was written aside is gone' leftovers
plan_end
