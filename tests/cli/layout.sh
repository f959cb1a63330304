#!/bin/sh
# layout.sh - spmd layout: pictures, tables and summaries, and its wrong uses.
. "$(dirname "$0")/tap.sh"
pictures=$top/tests/cli/golden
unset NO_COLOR SPMD_STRICT

# picture NAME MESH SPEC SHAPE: as golden/layout-NAME.txt, with box-drawing characters.
picture() {
    picture_name=$1
    shift
    same "$picture_name" "$pictures/layout-$picture_name.txt" \
        env LC_ALL=C.UTF-8 "$spmd" layout "$@"
}

# plain NAME MESH SPEC SHAPE: the same in ASCII.
plain() {
    picture_name=$1
    shift
    same "$picture_name" "$pictures/layout-$picture_name.txt" env LC_ALL=C "$spmd" layout "$@"
}

# wrong NAME TEXT ARGUMENT...: exit status 2, TEXT in the message, nothing on standard output.
wrong() {
    wrong_name=$1 wrong_text=$2
    shift 2
    tap_run "$spmd" layout "$@"
    [ "$tap_status" -eq 2 ] && [ ! -s "$tmp/.out" ] && grep -q '^spmd: error: ' "$tmp/.err" &&
        grep -qF -e "$wrong_text" "$tmp/.err"
    tap_case "$wrong_name" $?
}

if [ "$(LC_ALL=C.UTF-8 locale charmap 2>/dev/null)" = UTF-8 ]; then
    picture 1d x=4 'P(x)' 8
    picture 1d-uneven x=3 'P(x)' 7
    picture 2d x=2,y=4 'P(x,y)' 8x8
    picture 2d-uneven x=3,y=2 'P(x,y)' 7x5
    picture replicas data=8,model=2 'P(-,model)' 784x128
    picture whole x=2,y=3 'P()' 4x4
    picture tuple x=2,y=2 'P((x,y),-)' 6x3
    picture tuple-swapped x=2,y=2 'P((y,x),-)' 6x3
    picture 3d x=2,y=3,z=2 'P(x,z,y)' 3x4x5
    picture 5d a=2,b=5 'P(b,-,a,-,-)' 10x2x4x3x2
    picture scalar x=2,y=2 'P()' ''
    picture few-rows x=8,y=2 'P(x,-)' 5x4
    picture no-elements x=3 'P(x,-)' 0x4
    picture many-replicas x=16,y=16 'P(y)' 64
    picture many-rows x=40 'P(x,-)' 40x2
    picture million x=1024,y=1024 'P(x,y)' 4096x4096
    picture million-replicas x=1048576 'P()' 16
    picture unreduced x=2,y=2 'P(x, unreduced={y})' 4
else
    skip 'pictures with box-drawing characters' 'no locale C.UTF-8'
fi

plain ascii x=2,y=4 'P(x,y)' 8x8
plain ascii-3d x=2,y=2 'P(x,-,y)' 2x3x4

# A million devices need no time, nor do many more.
ok 'a mesh of 10^18 ranks' timeout 10 "$spmd" layout x=1000000,y=1000000,z=1000000 'P(y)' 1000000x2

# At most 80 columns.
tap_run env LC_ALL=C "$spmd" layout x=1024,y=1024 'P(x,y)' 4096x4096
! grep -q '.\{81\}' "$tmp/.out"
tap_case 'no line is longer than 80 columns' $?

# Every notation of the library, operands that begin with a dash, options among operands.
prints 'a spec as Python prints it' 'as P(x, -) on mesh x=2' \
    "$spmd" layout x=2 "PartitionSpec('x', None)" 4x4
prints 'a spec that begins with a dash' '[4,4@x]' "$spmd" layout x=2 '-, x' 4x4
prints 'operands after --' '[4@x]' "$spmd" layout -- x=2 'P(x)' 4
prints 'help among operands' 'usage: spmd layout MESH SPEC SHAPE' "$spmd" layout x=2 --help
prints 'strict mode' 'strict' env SPMD_STRICT=1 "$spmd" layout x=3 'P(x)' 7
status 2 'strict mode refuses' env SPMD_STRICT=1 "$spmd" layout x=3 'P(x)' 7

# A picture has no colours outside of a terminal.
tap_run env TERM=xterm "$spmd" layout x=2 'P(x)' 4
! grep -q "$(printf '\033')" "$tmp/.out"
tap_case 'no colours in a file' $?

# Started by a launcher, one process speaks.
tap_run run 3 "$spmd" layout x=2 'P(x)' 4
[ "$(grep -c '^rank' "$tmp/.out")" = 1 ]
tap_case 'prints once on 3 ranks' $?

wrong 'no arguments' 'layout takes 3 arguments, MESH SPEC SHAPE, not 0'
wrong 'two arguments' 'not 2' x=2 'P(x)'
wrong 'four arguments' 'not 4' x=2 'P(x)' 4 4
wrong 'an unknown option' 'layout has no option --json' --json x=2 'P(x)' 4
wrong 'a misspelt option' 'did you mean --help' --hlep
wrong 'a value for --help' '--help takes no value' --help=yes
wrong 'a mesh that does not parse' 'mesh' x2 'P(x)' 4
wrong 'a mesh with an open size' 'x=*' 'x=*' 'P(x)' 4
wrong 'an axis name twice' 'x=2,x=2' x=2,x=2 'P(x)' 4
wrong 'a spec that does not parse' 'spec' x=2 'P(x' 4
wrong 'an axis that the mesh does not have' 'no axis q' x=2 'P(q)' 4
wrong 'an axis for two dimensions' 'axis x lies along dims 0 and 1' x=2 'P(x,x)' 4x4
wrong 'a spec longer than the shape' '2 entries' x=2 'P(x,-)' 4
wrong 'a shape that does not parse' '4y4' x=2 'P(x)' 4y4
wrong 'a shape of too many elements' 'elements' x=2 'P(x)' 4294967296x4294967296

# Output that goes nowhere is a failed run.
if [ -w /dev/full ]; then
    status 1 'a full disk' sh -c '"$1" layout x=2 "P(x)" 4 >/dev/full' sh "$spmd"
    grep -q '^spmd: error: cannot write' "$tmp/.err"
    tap_case 'a full disk is told' $?
else
    skip 'a full disk' 'no /dev/full'
fi

plan_end
