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
    'spmd: error: mesh x=2,y=2 needs 4 ranks, this job has 1: mpirun -n 4 ' \
    run 1 "$examples/00_quickstart"
for ranks in 1 3 4 8; do
    same "forum on $ranks ranks" "$texts/example-01_forum.txt" run "$ranks" "$examples/01_forum"
    ok "forum on $ranks ranks leaves its results" test -s forum.h5
    rm -f forum.h5
done
same 'forum with params' "$texts/example-01_forum-params.txt" run 4 "$examples/01_forum" params
# example NAME RANKS...: prints the same on each of these numbers of ranks.
example() {
    name=$1
    shift
    for ranks in "$@"; do
        same "$name on $ranks" "$texts/example-$name.txt" run "$ranks" "$examples/$name"
    done
}

example 02_mesh_and_spec 1
example 03_sharding 1
example 04_positional 1
example 05_refused 8
prints '05_refused notes ranks without data' 'f32[4@y,2@x]: 4 of 8 ranks hold nothing' \
    run 8 "$examples/05_refused"
example 06_shard_map 2 4 6
example 07_pmap 2 3
example 08_preshard 3 4 8
example 09_replication 4 6
example 10_collectives 4 6
example 11_vmap 1 3 4 8
example 12_vmap_axis 1 3 4 6
example 13_trees 4 6 8
example 14_halo 1 3 4 8
for axes in x=2,y=2 x=1,y=4; do
    same "14_halo on $axes" "$texts/example-14_halo.txt" run 4 "$examples/14_halo" "$axes"
done
example 15_loops 1 3 4 8
example 16_keys 1 3 4 8
example 17_whole 2 3
example 18_unreduced 4 6
example 19_datasets 1 3 8
ok '19_datasets leaves its series' test -s series.h5
example 20_checkpoint 1 3 4
ok '20_checkpoint keeps three' [ "$(cd run && echo *)" = \
    'step-00000300.h5 step-00000400.h5 step-00000500.h5' ]

# Killed at step 14 and started again on other ranks, 21 goes on behind the checkpoint of step 10.
same '21_training on 3' "$texts/example-21_training.txt" run 3 "$examples/21_training"
rm -r training
not_ok '21_training killed on 4' run 4 "$examples/21_training" 14
for ranks in 1 3; do
    cp -r training "training.$ranks"
done
for ranks in 1 3; do
    rm -r training
    cp -r "training.$ranks" training
    same "21_training goes on on $ranks" "$texts/example-21_training-resumed.txt" \
        run "$ranks" "$examples/21_training"
done
plan_end
