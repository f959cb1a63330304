#!/bin/sh
# convert.sh - spmd convert: layouts, there and back, what is kept, what is refused.
. "$(dirname "$0")/tap.sh"
digits=$top/data/digits.h5 examples=$PWD/apps/examples
cd "$tmp" || exit 1

# wrong CODE NAME TEXT ARGUMENT...: exit status CODE, TEXT in the message, and no file bad.h5.
wrong() {
    wrong_code=$1 wrong_name=$2 wrong_text=$3
    shift 3
    tap_run "$spmd" convert "$@"
    [ "$tap_status" -eq "$wrong_code" ] && [ ! -s "$tmp/.out" ] && [ ! -e bad.h5 ] &&
        grep '^spmd: error: ' "$tmp/.err" | grep -qF -e "$wrong_text"
    tap_case "$wrong_name" $?
}

# alike NAME FILE FILE: the same objects, attributes and elements.
alike() {
    if command -v h5diff >/dev/null; then
        ok "$@"
    else
        skip "$1" 'no h5diff'
    fi
}

prints 'chunks' 'packed.h5: 2 arrays, ' \
    "$spmd" convert "$digits" packed.h5 --chunks 100,16 --shuffle --deflate 4
prints 'the layout of what has two dimensions' \
    '  x     u8[1797,64]  chunks 100x16, shuffle, deflate 4' "$spmd" info packed.h5
prints 'and of what has one' '  y     u8[1797]     chunks 1797, shuffle, deflate 4' \
    "$spmd" info packed.h5
alike 'packed, and the same' h5diff "$digits" packed.h5
ok 'in place, on 3 ranks' run 3 "$spmd" convert packed.h5 packed.h5 --contiguous
prints 'contiguous' '  x     u8[1797,64]  contiguous  115008' "$spmd" info packed.h5
alike 'there and back' h5diff "$digits" packed.h5
ok 'nothing is left aside' [ "$(echo packed.h5*)" = packed.h5 ]

ok 'one dataset of two, on 2 ranks' \
    run 2 "$spmd" convert "$digits" one.h5 x --chunks 'P(a,b)' --mesh a=8,b=4
prints 'chunks as large as blocks' '  x     u8[1797,64]  chunks 225x16 ' "$spmd" info one.h5
prints 'the other one is as it was' '  y     u8[1797]     contiguous ' "$spmd" info one.h5
alike 'as blocks, and the same' h5diff "$digits" one.h5
ok 'filters on what has chunks' "$spmd" convert one.h5 one.h5 x --fletcher32 --unlimited
prints 'its chunks have stayed' '  x     u8[1797,64]  chunks 225x16, fletcher32, unlimited ' \
    "$spmd" info one.h5
ok 'no deflate any more' "$spmd" convert packed.h5 packed.h5 --deflate 0
alike 'filtered, and the same' h5diff "$digits" one.h5

ok 'of another type, and back' "$spmd" convert "$digits" wide.h5 x --dtype f64
prints 'the other type' '  x     f64[1797,64]  contiguous ' "$spmd" info wide.h5
prints 'and not of others' '  y     u8[1797]      contiguous ' "$spmd" info wide.h5
ok 'integers to integers' "$spmd" convert wide.h5 wide.h5 --dtype i32
prints 'no floats to integers' '  x     f64[1797,64]  contiguous ' "$spmd" info wide.h5
prints 'but integers' '  y     i32[1797]     contiguous ' "$spmd" info wide.h5
ok 'back' "$spmd" convert wide.h5 wide.h5 x y --dtype u8
alike 'of other types, and the same' h5diff "$digits" wide.h5

echo 'no HDF5' >text
wrong 1 'what is no HDF5 is not replaced' 'text: not an HDF5 file; --force replaces it' \
    "$digits" text
ok 'and is as it was' grep -q 'no HDF5' text
mkdir directory
wrong 1 'nor is a directory' 'directory: is a directory; name a file in it' "$digits" directory
wrong 1 'not by force either' 'directory: is a directory; name a file in it' \
    "$digits" directory --force
ok 'but by force' "$spmd" convert "$digits" text --force
alike 'then it is' h5diff "$digits" text

ok 'checkpoints' sh -c 'mkdir course && cd course && exec "$@"' sh "$examples/20_checkpoint"
checkpoint=$(echo course/run/*.h5 | cut -d' ' -f1)
cp "$checkpoint" before.h5
wrong 1 'a checkpoint is not replaced' 'is the checkpoint of step' "$digits" \
    "$checkpoint"
ok 'and stays as it was' cmp "$checkpoint" before.h5
ok 'but by force, too' "$spmd" convert "$digits" "$checkpoint" --force

# Its arrays are params/b, f32[3], and params/w, f32[5,3].
ok 'a group' "$spmd" convert before.h5 group.h5 params --dtype f64
prints 'what is in it' '  params/w  f64[5@rows,3]  contiguous ' "$spmd" info group.h5
ok 'of a group, what the chunks fit' "$spmd" convert before.h5 group.h5 /params/ --chunks 2,2
prints 'is in chunks' '  params/w  f32[5@rows,3]  chunks 2x2 ' "$spmd" info group.h5
prints 'and the rest is not' '  params/b  f32[3]         contiguous ' "$spmd" info group.h5
prints 'a type of no array is noted' 'spmd: note: no array was converted to i32' \
    "$spmd" convert before.h5 group.h5 --dtype i32
ok 'on more ranks than rows' run 6 "$spmd" convert before.h5 group.h5
ok 'nothing is noted' [ -z "$(cat .err)" ]
wrong 2 'chunks that fit no array' 'before.h5: --chunks fits no array: dataset "params/w" has 2' \
    before.h5 bad.h5 --chunks 2,2,2
wrong 2 'nor one of a group' '--chunks fits no array' before.h5 bad.h5 params --chunks 2,2,2
wrong 1 'the beginning of a name' 'no dataset "par"' before.h5 bad.h5 par

if command -v h5import >/dev/null && command -v h5dump >/dev/null; then
    seq 12 >numbers
    printf '%s\n' 'PATH x' 'INPUT-CLASS TEXTIN' 'INPUT-SIZE 32' 'RANK 2' 'DIMENSION-SIZES 4 3' \
        'OUTPUT-CLASS IN' 'OUTPUT-SIZE 32' 'CHUNKED-DIMENSION-SIZES 2 3' \
        'MAXIMUM-DIMENSIONS 8 -1' >layout
    h5import numbers -c layout -o grows.h5
    ok 'what can grow' "$spmd" convert grows.h5 grown.h5 --chunks 8,4
    prints 'grows as far' '( 4, 3 ) / ( 8, H5S_UNLIMITED )' h5dump -H grown.h5
else
    skip 'what can grow' 'no h5import'
fi

wrong 2 'no operands' 'convert takes two files, IN OUT, not 0'
wrong 2 'one operand' 'not 1' "$digits"
wrong 1 'no such file' 'nowhere.h5: no such file or directory' nowhere.h5 bad.h5
wrong 1 'no such directory' 'there is no directory nowhere' "$digits" nowhere/bad.h5
wrong 1 'no such dataset' 'no dataset "z"; the file has x, y' "$digits" bad.h5 z
wrong 2 'chunks that do not fit a name' 'dataset "y" has 1 dimension, the chunks have 2' \
    "$digits" bad.h5 y --chunks 4,4
wrong 2 'contiguous chunks' '--contiguous has no chunks, and --deflate needs them' \
    "$digits" bad.h5 --contiguous --deflate 1
wrong 2 'a level that there is not' '--deflate needs a number from 0 to 9, not "10"' \
    "$digits" bad.h5 --deflate 10
wrong 2 'a spec without a mesh' '--chunks P(x) needs --mesh' "$digits" bad.h5 --chunks 'P(x)'
wrong 2 'a mesh without a spec' '--mesh needs a spec' "$digits" bad.h5 --chunks 4,4 --mesh x=2
wrong 2 'a spec on no such axis' 'no axis y' "$digits" bad.h5 x --chunks 'P(y)' --mesh x=2
wrong 2 'extents that are none' '--chunks needs extents, 64,64, or a spec, P(x,y), not "0,4"' \
    "$digits" bad.h5 --chunks 0,4
wrong 2 'no such type' 'f12' "$digits" bad.h5 --dtype f12
wrong 2 'a type that is not converted to' 'not converted' "$digits" bad.h5 x --dtype c64
wrong 2 'an unknown option' 'convert has no option --chunk; did you mean --chunks?' \
    "$digits" bad.h5 --chunk 4
plan_end
