#!/bin/sh
# command.sh - the frame of the command: help, version, exit codes; and spmd info without a file.
. "$(dirname "$0")/tap.sh"
texts=$top/tests/cli/golden
unset OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK PMI_SIZE PMI_RANK SLURM_NTASKS SLURM_PROCID

# A build without BLAS has no spmd sweep.
cp "$texts/help.txt" "$tmp/help.txt"
if "$spmd" info | grep -q '^BLAS  *none'; then
    sed '/^  sweep /d' "$texts/help.txt" >"$tmp/help.txt"
    status 2 'no sweep without BLAS' "$spmd" sweep
    prints 'no sweep is told' 'spmd: error: sweep needs BLAS, and this build of spmd has none' \
        "$spmd" help sweep
else
    prints 'spmd help sweep' 'spmd sweep [OPTION...]' "$spmd" help sweep
fi

same 'spmd --help' "$tmp/help.txt" "$spmd" --help
same 'spmd -h' "$tmp/help.txt" "$spmd" -h
same 'spmd help' "$tmp/help.txt" "$spmd" help
same 'spmd help help' "$tmp/help.txt" "$spmd" help help
same 'spmd help layout' "$texts/help-layout.txt" "$spmd" help layout
same 'spmd layout --help' "$texts/help-layout.txt" "$spmd" layout --help
same 'spmd layout -h' "$texts/help-layout.txt" "$spmd" layout -h
same 'spmd help reshard' "$texts/help-reshard.txt" "$spmd" help reshard
same 'spmd help info' "$texts/help-info.txt" "$spmd" help info
same 'spmd info --help' "$texts/help-info.txt" "$spmd" info --help
same 'spmd help convert' "$texts/help-convert.txt" "$spmd" help convert

# Every command is in the manual page, with all of its options; each has its own help.
for name in $("$spmd" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p'); do
    ok "spmd $name --help" "$spmd" "$name" --help
    grep -q "^\\.Ss spmd $name" "$top/docs/spmd.1"
    tap_case "spmd.1 tells of $name" $?
    missing=
    for option in $("$spmd" "$name" --help | sed -n 's/^  --\([a-z0-9-]*\).*/\1/p'); do
        grep -Eq "Fl -$option( |\$)" "$top/docs/spmd.1" || missing="$missing --$option"
    done
    [ -z "$missing" ]
    tap_case "spmd.1 tells of the options of $name$missing" $?
done

for page in spmd.1 spmd.7; do
    if command -v mandoc >/dev/null; then
        ok "$page is well formed" mandoc -T lint -W warning "$top/docs/$page"
    else
        skip "$page is well formed" 'no mandoc'
    fi
done

tap_run "$spmd" --version
grep -Eqx 'spmd [0-9]+\.[0-9]+\.[0-9]+' "$tmp/.out"
tap_case 'spmd --version' $?

status 2 'no command' "$spmd"
prints 'no command is told' 'spmd: error: a command is missing' "$spmd"
status 2 'an unknown command' "$spmd" nonsense
prints 'an unknown command is told' 'spmd: error: there is no command nonsense' "$spmd" nonsense
prints 'a misspelt command' 'did you mean layout?' "$spmd" layuot
prints 'a shortened command' 'did you mean info?' "$spmd" inf
status 2 'help of an unknown command' "$spmd" help nonsense
status 2 'an empty name' "$spmd" ''

# spmd info
ok 'spmd info' "$spmd" info
for line in 'spmd  *[0-9]' 'MPI  *standard [0-9]' 'HDF5  *[0-9.]*, parallel' 'BLAS  *.' \
    'ranks  *1 on 1 host$' '  SPMD_STRICT  *not set' '  SPMD_REPLICATION  *never '; do
    tap_run env -u SPMD_STRICT SPMD_REPLICATION=never "$spmd" info
    grep -q "^$line" "$tmp/.out"
    tap_case "info has: $line" $?
done
status 2 'a value that is none of a setting' env SPMD_MOVE=fast "$spmd" info
grep -qx 'spmd: error: SPMD_MOVE=fast in the environment: it is auto, pool, .* or collective' "$tmp/.err"
tap_case 'is told, with the list' $?
status 2 'each is told' env SPMD_IO=fast SPMD_CHECK=yes SPMD_WATCHDOG=soon "$spmd" info
[ "$(grep -c '^spmd: error: SPMD_' "$tmp/.err")" -eq 3 ]
tap_case 'once' $?
status 1 'a file of costs that there is not' env SPMD_COSTS=nowhere "$spmd" info
status 0 'a name that is no setting' env SPMD_MOV=pool SPMD_ROOT=/opt "$spmd" info
for line in 'SPMD_MOV .*; did you mean SPMD_MOVE?' 'SPMD_ROOT .* library'; do
    grep -qx "spmd: warning: $line" "$tmp/.err"
    tap_case "is warned of: $line" $?
done
ok 'no word about those that are right' "$spmd" info
[ ! -s "$tmp/.err" ]
tap_case 'or not set' $?
missing=
for name in $(sed -n 's/^  \([A-Z0-9_]*\)  .*/\1/p' "$tmp/.out"); do
    grep -q "^\\.It Ev $name" "$top/docs/spmd.1" || missing="$missing $name"
done
[ -z "$missing" ]
tap_case "spmd.1 tells of all variables$missing" $?
status 2 'info --json needs a file' "$spmd" info --json
prints 'info of 3 ranks' 'ranks     3 on 1 host' run 3 "$spmd" info
tap_run run 3 "$spmd" info
[ "$(grep -c '^HDF5' "$tmp/.out")" = 1 ]
tap_case 'info prints once on 3 ranks' $?

# A launcher that does not know the MPI library starts many worlds of one rank.
for variable in OMPI_COMM_WORLD_SIZE PMI_SIZE SLURM_NTASKS; do
    tap_run env "$variable=4" "$spmd" info
    grep -q "^spmd: warning: .*$variable=4.*MPI_COMM_WORLD has 1 rank" "$tmp/.err"
    tap_case "a mixed start is told: $variable" $?
done
tap_run env PMI_SIZE=4 PMI_RANK=2 "$spmd" info
[ ! -s "$tmp/.out" ] && [ ! -s "$tmp/.err" ]
tap_case 'of a mixed start, one process speaks' $?
for words in nonsense 'layout --nonsense' 'layout x=2' 'info --json'; do
    # shellcheck disable=SC2086
    status 2 "wrong use ends the one that speaks: $words" \
        env PMI_SIZE=4 PMI_RANK=0 "$spmd" $words
    # shellcheck disable=SC2086
    tap_run env PMI_SIZE=4 PMI_RANK=2 "$spmd" $words
    [ "$tap_status" -eq 0 ] && [ ! -s "$tmp/.out" ] && [ ! -s "$tmp/.err" ]
    tap_case "and not a silent one: $words" $?
done
prints 'a wrong use is told by one of 4 ranks' 'spmd: error: there is no command nonsense' \
    run 4 "$spmd" nonsense
ok 'once' [ "$(grep -c '^spmd: error' "$tmp/.err")" -eq 1 ]
tap_run run 2 "$spmd" info
! grep -q 'spmd: warning' "$tmp/.err"
tap_case 'a right start is not warned of' $?

plan_end
