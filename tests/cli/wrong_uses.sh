#!/bin/sh
# wrong_uses.sh - a program's mistake is told once, by one rank, and the program ends at once.
. "$(dirname "$0")/tap.sh"
program=$PWD/tests/cli/wrong_uses
cp "$top/data/digits.h5" "$tmp"

# wrong MISTAKE TEXT: on 1 and on 4 ranks, one message with TEXT in it, and a status that is not 0.
wrong() {
    for ranks in 1 4; do
        tap_run "$top/scripts/run" -t 30 "$ranks" "$program" "$1" "$tmp"
        [ "$tap_status" -ne 0 ] && [ "$(grep -c '^spmd: error: ' "$tmp/.err")" -eq 1 ] &&
            grep '^spmd: error: ' "$tmp/.err" | grep -qF -e "$2"
        tap_case "$1 on $ranks" $?
    done
}

ok 'no mistake on 4' run 4 "$program" none "$tmp"
wrong unknown_axis 'the mesh has no axis q'
wrong axis_twice 'axis x stands twice in dim 0'
wrong long_spec 'the spec has 2 entries, the array 1 dimension'
wrong large_mesh 'mesh x=8,y=2 needs 16 ranks, this job has'
wrong missing_file 'missing.h5: no such file'
wrong missing_dataset 'no dataset "z"; the file has x, y'
wrong wrong_rank 'the spec has 3 entries, the array 2 dimensions'
wrong unwritable 'there is no directory'
wrong failing_body 'the last rank has had enough'
wrong stuck_body 'the last rank has had enough'
wrong failing_run 'the last rank has had enough'
wrong own_failure 'the last rank has had enough'
wrong common_failure 'all have had enough'

# One rank alone has every input in its place.
tap_run "$top/scripts/run" -t 30 4 "$program" unplaced_input "$tmp"
[ "$tap_status" -ne 0 ] && grep -qF 'input 0 lies as P(), the in_spec says P(x)' "$tmp/.err" &&
    ! grep -qi mpi_abort "$tmp/.err"
tap_case 'an input that strict refuses is agreed on, and ends no run' $?

# What a program's own failure is told as.
tap_run "$top/scripts/run" -t 30 4 "$program" own_failure "$tmp"
grep -qxF 'spmd: error: rank 3: the last rank has had enough' "$tmp/.err"
tap_case 'a failure that is not agreed on says whose it is' $?
tap_run "$top/scripts/run" -t 30 1 "$program" own_failure "$tmp"
grep -qxF 'spmd: error: the last rank has had enough' "$tmp/.err" &&
    ! grep -qi mpi_abort "$tmp/.err"
tap_case 'one rank has no others to end' $?
plan_end
