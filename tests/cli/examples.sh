#!/bin/sh
# examples.sh - the examples print what their golden texts say, whatever the number of ranks.
. "$(dirname "$0")/tap.sh"
examples=$PWD/apps/examples
texts=$top/tests/cli/golden
cd "$tmp" || exit 1 # they may leave files

same 'quickstart on 4 ranks' "$texts/example-00_quickstart.txt" run 4 "$examples/00_quickstart"
same 'quickstart on 6 ranks, two of them idle' "$texts/example-00_quickstart.txt" \
    run 6 "$examples/00_quickstart"
prints 'quickstart on 1 rank says what it needs' \
    'spmd: error: x=2,y=2 needs 4 ranks, this job has 1: mpirun --oversubscribe -n 4 ' \
    run 1 "$examples/00_quickstart"
for ranks in 1 3 4 8; do
    same "forum on $ranks ranks" "$texts/example-01_forum.txt" run "$ranks" "$examples/01_forum"
    ok "forum on $ranks ranks leaves its results" test -s forum.h5
    rm -f forum.h5
done
same 'forum with params' "$texts/example-01_forum-params.txt" run 4 "$examples/01_forum" params
for ranks in 2 4 6; do
    same "shard_map on $ranks ranks" "$texts/example-02_shard_map.txt" \
        run "$ranks" "$examples/02_shard_map"
done
plan_end
