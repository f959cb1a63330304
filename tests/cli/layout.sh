#!/bin/sh
# layout.sh - spmd layout: pictures, tables, summaries, JSON and SVG, and its wrong uses.
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
    picture bytes x=3,y=2 'P(x,y)' 7x5 --dtype bf16
    picture to-exchange x=2,y=2 'P(x,y)' 4x6 --to 'P(y,-)'
    picture to-slice x=3,y=2 'P(x)' 7 --to 'P((x,y))'
    picture to-nothing x=2,y=1 'P(x)' 4x4 --to 'P((x,y),-)'
    picture to-3d x=3,y=2 'P(x,y)' 7x5x3 --to 'P(-,x,y)'
    picture to-below x=8 'P(-,x)' 8x80 --to 'P(x,-)'
    picture to-million x=1024,y=1024 'P(x,y)' 4096x4096 --to 'P(x,-)'
    picture to-scalar x=2 'P()' '' --to 'P()'
else
    skip 'pictures with box-drawing characters' 'no locale C.UTF-8'
fi

plain ascii x=2,y=4 'P(x,y)' 8x8
plain ascii-3d x=2,y=2 'P(x,-,y)' 2x3x4
plain ascii-to x=2,y=2 'P(x,y)' 4x6 --to 'P(x,-)'
plain ranks x=40 'P(x)' 40 --ranks 16
plain json x=2,y=2 'P(x,-)' 3x4 --json
plain json-to x=2,y=2 'P(x)' 3x4 --to 'P(-,x)' --dtype f64 --json

# A million devices need no time, nor do many more.
ok 'a mesh of 10^18 ranks' timeout 10 "$spmd" layout x=1000000,y=1000000,z=1000000 'P(y)' 1000000x2

ok 'two specs on 10^18 ranks' \
    timeout 10 "$spmd" layout x=1000000,y=1000000,z=1000000 'P(y)' 1000000x2 --to 'P(-,z)'
prints 'sums that are too long to add up' '?' \
    timeout 10 "$spmd" layout x=1000000,y=1000000,z=1000000 'P(y,x)' 1000000x1000000 --to 'P(x,y)'

narrow 'a million ranks' "$spmd" layout x=1024,y=1024 'P(x,y)' 4096x4096
narrow 'two specs' "$spmd" layout x=1024,y=1024 'P(x,y)' 4096x4096 --to 'P((x,y))' --dtype c128
narrow 'a large array' "$spmd" layout data=4,tensor_model=8,pipeline=16 \
    'P((data,pipeline),tensor_model)' 100000001x90000001 --dtype c128 --to 'P(pipeline)'

json 'a layout' "$spmd" layout x=2,y=4 'P(x,y)' 7x5 --json
json 'a scalar' "$spmd" layout x=2 'P()' '' --json
json 'an empty array' "$spmd" layout x=2 'P(x)' 0x3 --json
json 'a reshard' "$spmd" layout x=2,y=4 'P(x,y)' 7x5 --to 'P(-,x)' --json
json 'an all-to-all' "$spmd" layout x=2,y=4 'P(x)' 7x5 --to 'P(-,x)' --json
json 'a reshard of 10^18 ranks' "$spmd" layout \
    x=1000000,y=1000000,z=1000000 'P(y,x)' 1000000x1000000 --to 'P(x,y)' --json
json 'a layout of unreduced axes' "$spmd" layout x=2,y=2 'P(x, unreduced={y}:max)' 4 --json
tap_run "$spmd" layout x=1000 'P(x)' 1000 --json --ranks 200
[ "$(grep -c '"rank":' "$tmp/.out")" = 200 ] && grep -q '"ranks_left_out": 800' "$tmp/.out"
tap_case 'JSON lists as many ranks as asked for' $?

# svg BLOCKS NAME ARGUMENT...: well formed, with so many blocks, and with nothing from outside.
svg() {
    svg_blocks=$1 svg_name=$2
    shift 2
    rm -f "$tmp/picture.svg"
    tap_run "$spmd" layout "$@" --svg "$tmp/picture.svg"
    [ "$(grep -c 'class="block"' "$tmp/picture.svg")" = "$svg_blocks" ] &&
        grep -q '^<svg .*viewBox="0 0 [0-9]* [0-9]*"' "$tmp/picture.svg" &&
        [ "$(grep -o 'http[^"]*' "$tmp/picture.svg")" = http://www.w3.org/2000/svg ] &&
        ! grep -Eq 'href|url|nan|inf' "$tmp/picture.svg" &&
        [ "$(tail -n 1 "$tmp/picture.svg")" = '</svg>' ]
    tap_case "SVG of $svg_name" $?
    if command -v xmllint >/dev/null; then
        ok "SVG of $svg_name is XML" xmllint --noout "$tmp/picture.svg"
    else
        skip "SVG of $svg_name is XML" 'no xmllint'
    fi
}
svg 3 'a vector' x=3 'P(x)' 7
svg 8 'a matrix' x=2,y=4 'P(x,y)' 8x8
grep -q '>dim 0 along x</text>' "$tmp/picture.svg" && grep -q '>7</text>' "$tmp/picture.svg"
tap_case 'SVG names dimensions and ranks' $?
svg 12 'three dimensions' x=2,y=3,z=2 'P(x,z,y)' 3x4x5
svg 6 'many slices' x=40 'P(x,-,-)' 40x2x2
svg 36 'a million ranks' x=1024,y=1024 'P(x,y)' 4096x4096
svg 1 'a scalar' x=3 'P()' ''
svg 0 'no elements' x=3 'P(x)' 0
svg 6 'two specs' x=2,y=2 'P(x,y)' 4x6 --to 'P(y,-)'
grep -q '>reshard: exchange</text>' "$tmp/picture.svg"
tap_case 'SVG of two specs says how they differ' $?
svg 16 'two specs of all ranks' x=2,y=4 'P(x,y)' 8x8 --to 'P((y,x))'
# A block's rectangle, then its rank: each rank has one colour, and here no two have the same.
grep -A 1 'class="block"' "$tmp/picture.svg" |
    sed -n 's/.*fill="\(.*\)".*/\1/p; s/.*>\([0-9]*\)<.*/\1/p' | paste - - | sort -u >"$tmp/colours"
[ "$(wc -l <"$tmp/colours")" = 8 ] && [ "$(cut -f 1 "$tmp/colours" | sort -u | wc -l)" = 8 ]
tap_case 'SVG: a rank has the same colour under both specs' $?
svg 10 'two specs below each other' x=9 'P(x)' 9000000000 --to 'P()'

# Blocks have their true proportions: 3, 2 and 2 of 7 rows.
"$spmd" layout x=3 'P(x)' 7 --svg "$tmp/picture.svg" >"$tmp/.out" 2>"$tmp/.err"
sed -n 's/.*class="block".* width="\([0-9.]*\)".*/\1/p' "$tmp/picture.svg" |
    awk '{ w[NR] = $1 } END { exit !(NR == 3 && w[2] == w[3] && (d = w[1] - 1.5 * w[2]) < 0.2 && d > -0.2) }'
tap_case 'SVG in true proportion' $?

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

# terminal VARIABLE...: the picture as a terminal gets it, counted in blocks with a colour.
terminal() {
    env TERM=xterm "$@" script -qec "'$spmd' layout x=2 'P(x)' 4" "$tmp/typescript" \
        >"$tmp/.out" 2>"$tmp/.err" </dev/null
    tap_coloured=$(tr '\033' '\n' <"$tmp/.out" | grep -c '^\[30;48;5;')
}
if script -qec true /dev/null </dev/null >"$tmp/.out" 2>&1; then
    terminal
    [ "$tap_coloured" = 2 ]
    tap_case 'colours on a terminal' $?
    terminal NO_COLOR=1
    [ "$tap_coloured" = 0 ]
    tap_case 'no colours with NO_COLOR' $?
    terminal TERM=dumb
    [ "$tap_coloured" = 0 ]
    tap_case 'no colours on a dumb terminal' $?
else
    skip 'colours on a terminal' 'no script'
fi

# Started by a launcher, one process speaks.
tap_run run 3 "$spmd" layout x=2 'P(x)' 4
[ "$(grep -c '^rank' "$tmp/.out")" = 1 ]
tap_case 'prints once on 3 ranks' $?

wrong 'no arguments' 'layout takes 3 arguments, MESH SPEC SHAPE, not 0'
wrong 'two arguments' 'not 2' x=2 'P(x)'
wrong 'four arguments' 'not 4' x=2 'P(x)' 4 4
wrong 'an unknown option' 'layout has no option --yaml' --yaml x=2 'P(x)' 4
wrong 'an unknown element type' 'f12' x=2 'P(x)' 4 --dtype f12
wrong 'a mesh too large' 'mesh "x=9223372036854775808": expected a size below 2^63 at column 3' \
    x=9223372036854775808 'P(x)' 4
wrong 'a shape too large' 'expected a size below 2^63 at column 3' x=2 'P(x)' 4x9223372036854775808
wrong 'no ranks to list' '--ranks needs a number from 1 to 1048576' x=2 'P(x)' 4 --ranks 0
wrong 'more ranks than anybody reads' '--ranks needs a number from 1 to' x=2 'P(x)' 4 --ranks 9223372036854775807
wrong 'a second spec of another mesh' 'no axis y' x=2 'P(x)' 4 --to 'P(y)'
wrong 'a second spec longer than the shape' '2 entries' x=2 'P(x)' 4 --to 'P(-,x)'
wrong 'a reshard of contributions' 'unreduced' x=2,y=2 'P(x, unreduced={y})' 4 --to 'P(x)'
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

# What stands at the wrong place is a failed run, too.
status 1 'a directory that is not there' "$spmd" layout x=2 'P(x)' 4 --svg "$tmp/none/picture.svg"
grep -q '^spmd: error: cannot write .*picture.svg' "$tmp/.err"
tap_case 'a directory that is not there is told' $?

# Output that goes nowhere is a failed run.
if [ -w /dev/full ]; then
    status 1 'a full disk' sh -c '"$1" layout x=2 "P(x)" 4 >/dev/full' sh "$spmd"
    grep -q '^spmd: error: cannot write' "$tmp/.err"
    tap_case 'a full disk is told' $?
    status 1 'a full disk for an SVG' "$spmd" layout x=2 'P(x)' 4 --svg /dev/full
    [ "$(grep -c '^spmd: error: ' "$tmp/.err")" = 1 ]
    tap_case 'a full disk for an SVG is told' $?
else
    skip 'a full disk' 'no /dev/full'
fi

plan_end
