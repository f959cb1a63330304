#!/bin/sh
# bench.sh - the measures run, and print lines of the form that they say.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/measures.sh"
unset SPMD_CHECK SPMD_WATCHDOG # ratios of checked runs say nothing

# measures RANKS NAME LEAST [ARGUMENT...]: bench/NAME prints LEAST lines or more.
measures() {
    ranks=$1 bench=$2 least=$3
    shift 3
    run "$ranks" "$PWD/bench/$bench" --once "$@" >"$tmp/csv" 2>"$tmp/complaints" &&
        has_measures "$ranks" "$least" "$tmp/csv"
}

# Says a remark of this beginning.
remarks() {
    grep -q "^# $1: " "$tmp/csv"
}

# Each rival was there to be measured, or the line on standard error says that it was not.
rivals() {
    for rival in 'pack + MPI_Alltoallv + unpack' 'MPI_Alltoallw of subarrays' 'ScaLAPACK pdgemr2d' \
        'FFTW MPI transpose' 'FFTW MPI transpose; TRANSPOSED_OUT'; do
        grep -qF ",$rival," "$tmp/csv" || grep -q "^bench: no .*: without $rival\$" "$tmp/complaints" ||
            return 1
    done
}

ok 'bench/layout' measures 1 layout 3
ok 'bench/plan' measures 1 plan 3
ok 'bench/shard_map' measures 2 shard_map 12
ok 'bench/collectives' measures 2 collectives 42
ok 'bench/halo' measures 2 halo 2
ok 'bench/io' measures 2 io 30 8 "$tmp"
ok 'bench/io: in which file system' remarks files
ok 'bench/loader' measures 2 loader 16 2 "$tmp"
ok 'bench/reshard' measures 2 reshard 20
ok 'bench/reshard: how malloc was set' remarks malloc
ok 'bench/reshard: how the memory was reached' remarks memory
ok 'bench/reshard: rivals that are not there are told' rivals
status 2 'a measure with an option that there is not' "$PWD/bench/layout" --slow
status 77 'bench/reshard-jax without a Python' env PYTHON="$tmp/nothing" "$top/bench/reshard-jax"
prints 'bench/reshard-jax says what it lacks' PYTHON env PYTHON="$tmp/nothing" "$top/bench/reshard-jax"
plan_end
