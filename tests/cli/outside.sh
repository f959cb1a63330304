#!/bin/sh
# outside.sh - under the address sanitizer a body that touches one element outside of a block is
# stopped there.
. "$(dirname "$0")/tap.sh"
program=$PWD/tests/cli/outside

# stopped WHICH: on 1 and on 2 ranks the sanitizer ends the program and says in which call.
stopped() {
    for ranks in 1 2; do
        tap_run "$top/scripts/run" -t 30 "$ranks" "$program" "$1"
        [ "$tap_status" -ne 0 ] &&
            grep -qE 'AddressSanitizer: (heap-buffer-overflow|use-after-poison)' "$tmp/.err"
        tap_case "$1 on $ranks" $?
    done
}

for which in output round_output empty_output later_output temporary before_temporary input; do
    if "$program" sanitizer; then
        stopped "$which"
    else
        skip "$which" 'nobody looks without --enable-sanitizers'
    fi
done
plan_end
