#!/bin/sh
# reshard.sh - spmd reshard: steps, tables and memory, JSON, and its wrong uses.
. "$(dirname "$0")/tap.sh"
texts=$top/tests/cli/golden
unset SPMD_STRICT

# told NAME MESH FROM TO SHAPE: as golden/reshard-NAME.txt.
told() {
    told_name=$1
    shift
    same "$told_name" "$texts/reshard-$told_name.txt" "$spmd" reshard "$@"
}

# wrong NAME TEXT ARGUMENT...: exit status 2, TEXT in the message, nothing on standard output.
wrong() {
    wrong_name=$1 wrong_text=$2
    shift 2
    tap_run "$spmd" reshard "$@"
    [ "$tap_status" -eq 2 ] && [ ! -s "$tmp/.out" ] && grep -q '^spmd: error: ' "$tmp/.err" &&
        grep -qF -e "$wrong_text" "$tmp/.err"
    tap_case "$wrong_name" $?
}

told nothing x=2,y=2 'P(x,-)' 'P(x)' 5x7
told slice x=3,y=2 'P(x)' 'P((x,y))' 7 --position 5
told all-gather x=2,y=4 'P(x,y)' 'P(x,-)' 8x8 --position 3
told all-to-all x=4 'P(x,-)' 'P(-,x)' 8192x8192 --dtype f64
told permute x=256,y=256 'P(x,y)' 'P(y,x)' 65536x65536 --position 1
told exchange x=2,y=3 'P((x,y),-)' 'P(y,x)' 7x5 --position 4
told all-reduce x=2,y=2 'P(x, unreduced={y})' 'P(x)' 1024x1024
told reduce-scatter x=2,y=2 'P(x,-, unreduced={y})' 'P(x,y)' 1024x1024
told fill x=2,y=2 'P(x)' 'P(x, unreduced={y})' 6x4 --position 1
told three-steps x=2,y=2 'P(x, unreduced={y})' 'P(-,y, unreduced={x})' 5x7 --position 1
told kept-contributions x=2,y=2 'P(x,-, unreduced={y})' 'P(-,x, unreduced={y})' 4x4
told two-meshes x=2,y=3 'P(x,y)' 'P(z)' 10x4 --to-mesh z=4 --position 5
told scalar x=2 'P()' 'P()' ''
told empty x=3 'P(x,-)' 'P(-,x)' 0x4
told few-rows x=8,y=2 'P(x,-)' 'P(-,x)' 5x4 --position 15
told too-many x=1000000,y=1000000 'P(x,y)' 'P(y,x)' 1000000x1000000
told json x=2,y=2 'P(x,-)' 'P(-,x)' 3x4 --json --position 2
told json-steps x=2,y=2 'P(x, unreduced={y}:max)' 'P(-,y)' 5x7 --json
told json-two-meshes x=4 'P(x)' 'P(a,b)' 8x8 --json --to-mesh a=2,b=3 --position 5

# Any number of devices needs no time.
ok 'a transposition on 65,536 devices' \
    timeout 10 "$spmd" reshard x=256,y=256 'P(x,y)' 'P(y,x)' 65535x65537 --position 65535
ok 'an all-to-all on 10^18 devices' timeout 10 "$spmd" reshard \
    x=1000,y=1000000,z=1000000000 'P(x)' 'P(-,x)' 1000000x1000000 --position 999999999999999999

narrow '10^18 devices' "$spmd" reshard x=1000,y=1000000,z=1000000000 'P(x)' 'P(-,x)' \
    1000000x1000000 --dtype c128 --position 999999999999999999
narrow 'long names' "$spmd" reshard data=4,tensor_model=8,pipeline=16,expert_groups=3 \
    'P((data,pipeline),(tensor_model,expert_groups))' \
    'P(-,(pipeline,data), unreduced={tensor_model,expert_groups})' 100000001x90000001 --dtype c128

json 'an all-to-all' "$spmd" reshard x=2,y=4 'P(x)' 'P(-,x)' 7x5 --json
json 'a scalar' "$spmd" reshard x=2 'P()' 'P()' '' --json
json 'three steps' "$spmd" reshard x=2,y=2 'P(x, unreduced={y})' 'P(-,y, unreduced={x})' 5x7 --json
json 'too many devices' "$spmd" reshard x=1000000,y=1000000 'P(x,y)' 'P(y,x)' 1000000x1000000 --json
json 'two meshes' "$spmd" reshard x=4 'P(x)' 'P(a,b)' 8x8 --to-mesh a=2,b=3 --json

# Every notation of the library, operands that begin with a dash, options among operands.
prints 'specs as Python prints them' '  P(-, x)' \
    "$spmd" reshard x=2 "PartitionSpec('x', None)" "PartitionSpec(None, 'x')" 4x4
prints 'operands that begin with a dash' '1 all-to-all along x, from dim 1 to dim 0' \
    "$spmd" reshard x=2 '-, x' 'x, -' 4x4
prints 'help among operands' 'usage: spmd reshard MESH FROM TO SHAPE' "$spmd" reshard x=2 --help
prints 'another element type' 'bf16[4,4]' "$spmd" reshard --dtype=bfloat16 x=2 'P(x)' 'P()' 4x4
status 2 'strict mode refuses' env SPMD_STRICT=1 "$spmd" reshard x=3 'P(x)' 'P()' 7

# Started by a launcher, one process speaks.
tap_run run 3 "$spmd" reshard x=2 'P(x)' 'P()' 4
[ "$(grep -c '^step' "$tmp/.out")" = 1 ]
tap_case 'prints once on 3 ranks' $?

wrong 'no arguments' 'reshard takes 4 arguments, MESH FROM TO SHAPE, not 0'
wrong 'three arguments' 'not 3' x=2 'P(x)' 4
wrong 'five arguments' 'not 5' x=2 'P(x)' 'P()' 4 4
wrong 'an unknown option' 'reshard has no option --to' x=2 'P(x)' 4 --to 'P()'
wrong 'an unknown element type' 'f12' x=2 'P(x)' 'P()' 4 --dtype f12
wrong 'an unknown axis to come from' 'no axis y' x=2 'P(y)' 'P(x)' 4
wrong 'an unknown axis to reach' 'no axis y' x=2 'P(x)' 'P(y)' 4
wrong 'an axis of the first mesh on the second one' 'no axis x' x=2 'P(x)' 'P(x)' 4 --to-mesh z=2
wrong 'a spec longer than the shape' '2 entries' x=2 'P(x)' 'P(-,x)' 4
wrong 'a spec that is open' '?' x=2 'P(?)' 'P(x)' 4
wrong 'a shape that does not parse' '4y4' x=2 'P(x)' 'P()' 4y4
wrong 'a shape of too many bytes' '2^63' x=2 'P(x)' 'P()' 4294967296x1073741824
wrong 'a mesh with an open size' 'x=*' 'x=*' 'P(x)' 'P()' 4
wrong 'a position that there is not' '--position needs a number from 0 to 3, not "4"' \
    x=2,y=2 'P(x)' 'P()' 4 --position 4
wrong 'a position that is no number' '--position needs a number from 0 to 3, not "first"' \
    x=2,y=2 'P(x)' 'P()' 4 --position first
wrong 'a position below 0' '--position needs a number from 0 to 3, not "-1"' \
    x=2,y=2 'P(x)' 'P()' 4 --position -1
wrong 'a sum of bool' 'make it i32' x=2 'P(unreduced={x})' 'P()' 4 --dtype bool
wrong 'values that become contributions to a maximum' 'a sum alone' x=2 'P()' 'P(unreduced={x}:max)' 4

# Output that goes nowhere is a failed run.
if [ -w /dev/full ]; then
    status 1 'a full disk' sh -c '"$1" reshard x=2 "P(x)" "P()" 4 >/dev/full' sh "$spmd"
    [ "$(grep -c '^spmd: error: cannot write' "$tmp/.err")" = 1 ]
    tap_case 'a full disk is told' $?
else
    skip 'a full disk' 'no /dev/full'
fi

plan_end
