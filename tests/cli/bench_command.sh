#!/bin/sh
# bench_command.sh - spmd bench: the lines that it prints, and the table of costs that it writes.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/measures.sh"
unset SPMD_CHECK SPMD_WATCHDOG SPMD_COSTS SPMD_MOVE

status 2 'a single rank' "$spmd" bench
prints 'a single rank is told' 'spmd: error: bench needs 2 ranks or more, this job has 1: mpirun -n 2 spmd bench' \
    "$spmd" bench
status 2 'an operand' "$spmd" bench costs.txt
status 2 'no file to write' "$spmd" bench --calibrate
prints 'a misspelt option' 'did you mean --calibrate?' "$spmd" bench --calibrat

# measures RANKS
measures() {
    run "$1" "$spmd" bench --quick >"$tmp/csv" && has_measures "$1" 18 "$tmp/csv"
}

for ranks in 2 3; do
    ok "measures of $ranks ranks" measures "$ranks"
    for way in pool readv messages collective; do
        grep -q "^rows to columns by $way,$ranks,.*,memcpy," "$tmp/csv"
        tap_case "a reshard by $way on $ranks ranks" $?
    done
    grep -q "^message to the next rank,$ranks,8,.*,MPI_Sendrecv," "$tmp/csv" &&
        grep -q "^sum over all ranks,$ranks,8,.*,MPI_Allreduce," "$tmp/csv"
    tap_case "messages and sums of $ranks ranks" $?
done

# The table has every cost that the manual tells, and the library reads it.
costs=$tmp/costs
ok 'a table of costs' run 2 "$spmd" bench --quick --calibrate "$costs"
grep -q "^spmd: note: $costs has .* SPMD_COSTS=$costs makes" "$tmp/.err"
tap_case 'what is written is told' $?
sed -n '/^\.Ss Costs/,/^\.Sh/s/^\.It Cm //p' "$top/docs/spmd.7" | sort >"$tmp/told"
sed -n 's/^\([a-z_]*\) = .*/\1/p' "$costs" | sort >"$tmp/written"
diff "$tmp/told" "$tmp/written" >"$tmp/.err" && [ -s "$tmp/written" ]
tap_case 'it has what spmd(7) tells' $?

# bench_with TABLE
bench_with() {
    SPMD_COSTS=$1 run 2 "$spmd" bench --quick >"$tmp/csv"
}
ok 'the table is read back' bench_with "$costs"
echo 'message_latancy = 1' >>"$costs"
status 1 'a spoilt table' bench_with "$costs"
grep -q "^spmd: error: .*SPMD_COSTS=$costs in the environment: line [0-9]*: there is no cost message_latancy" \
    "$tmp/.err"
tap_case 'a spoilt table is told' $?

status 1 'a place that cannot be written' run 2 "$spmd" bench --quick --calibrate "$tmp/none/costs"
grep -q "^spmd: error: cannot write $tmp/none/costs: No such file" "$tmp/.err"
tap_case 'a place that cannot be written is told' $?
set -- "$costs".*
[ ! -e "$1" ]
tap_case 'nothing is left beside the table' $?
plan_end
