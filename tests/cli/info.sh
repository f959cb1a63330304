#!/bin/sh
# info.sh - spmd info of files and directories: what they have, and whether it is whole.
. "$(dirname "$0")/tap.sh"
texts=$top/tests/cli/golden
examples=$PWD/apps/examples
cd "$tmp" || exit 1
cp "$top/data/digits.h5" digits.h5

# damage FILE TEXT: changes the first byte of TEXT in it.
damage() {
    damage_at=$(LC_ALL=C grep -abo -e "$2" "$1" | head -n 1 | cut -d: -f1)
    printf '!' | dd of="$1" bs=1 seek="$damage_at" conv=notrunc 2>/dev/null
}

same 'a file of others' "$texts/info-digits.txt" "$spmd" info digits.h5
same 'as JSON' "$texts/info-digits.json.txt" "$spmd" info --json digits.h5
json 'a file' "$spmd" info --json digits.h5
json 'a file that there is not' "$spmd" info --json nowhere.h5 digits.h5
prints 'no dataset behind a file' 'spmd: note: each operand of info is a file, of which it lists all' \
    "$spmd" info digits.h5 x
status 1 'no such file' "$spmd" info nowhere.h5
prints 'no such file is told' 'spmd: error: nowhere.h5: no such file or directory' \
    "$spmd" info nowhere.h5 digits.h5
grep -q '^digits.h5: 2 arrays' "$tmp/.out"
tap_case 'and the next one is listed' $?
echo 'no HDF5' >text
prints 'what is no HDF5' 'spmd: error: text: not an HDF5 file' "$spmd" info text
ok 'on 3 ranks' run 3 "$spmd" info digits.h5
ok 'once' [ "$(grep -c '^digits.h5' "$tmp/.out")" -eq 1 ]
prints 'without checksums' 'digits.h5: 2 arrays read, 0 compared with checksums' \
    "$spmd" info --verify digits.h5

ok 'a series' run 2 "$examples/19_datasets"
prints 'a dataset that grows' ', unlimited' "$spmd" info series.h5
ok 'checkpoints' run 3 "$examples/20_checkpoint"
prints 'of a directory' 'run: 3 checkpoints' "$spmd" info run
prints 'the newest one' 'run/step-00000500.h5  latest' "$spmd" info run
prints 'none' 'none: 0 checkpoints' sh -c 'mkdir none && "$1" info none' sh "$spmd"
json 'a directory' "$spmd" info --json run none
last=run/step-00000500.h5
prints 'a checkpoint' "$last: checkpoint of step 500, sealed, 2 arrays, " "$spmd" info "$last"
prints 'an array as it lay' '  params/w  f32[5@rows,3]  contiguous  ' "$spmd" info "$last"
prints 'a key' '  key       key(0,42) ' "$spmd" info "$last"
prints 'an integer' '  step      500 ' "$spmd" info "$last"
json 'a checkpoint' "$spmd" info --json "$last"
prints 'whole' "$last: 2 arrays read, 2 compared with checksums" "$spmd" info --verify "$last"
ok 'all are whole, on 3 ranks' run 3 "$spmd" info --verify run
ok 'on more ranks than rows, under any environment' \
    run 6 env SPMD_STRICT=1 "$spmd" info --verify "$last"
ok 'nothing is noted' [ -z "$(cat "$tmp/.err")" ]

# In another layout the checksums hold, of another type they are left out.
ok 'a checkpoint is converted' run 2 "$spmd" convert "$last" packed.h5 --deflate 1
prints 'to a plain file' 'packed.h5: 2 arrays, ' "$spmd" info packed.h5
prints 'which has its checksums' 'packed.h5: 2 arrays read, 2 compared with checksums' \
    "$spmd" info --verify packed.h5
ok 'to another type' "$spmd" convert "$last" wide.h5 --dtype f64
prints 'which has none' 'wide.h5: 2 arrays read, 0 compared with checksums' \
    "$spmd" info --verify wide.h5
prints 'and lies as before' '  params/w  f64[5@rows,3]  contiguous' "$spmd" info wide.h5

# A byte of w, which is 400 everywhere in one of them.
middle=run/step-00000400.h5
printf '\303' | dd of="$middle" bs=1 conv=notrunc \
    seek=$(($(LC_ALL=C grep -abo "$(printf '\310C')" "$middle" | head -n 1 | cut -d: -f1) + 1)) 2>/dev/null
status 1 'a damaged element' run 2 "$spmd" info --verify "$middle"
grep -q "^spmd: error: $middle: .*params/w.*damaged" "$tmp/.err"
tap_case 'its dataset is named' $?
status 1 'one of three' "$spmd" info --verify run
grep -q '^spmd: error: run: 1 of 3 checkpoints cannot be restored' "$tmp/.err"
tap_case 'is told' $?
prints 'and the others are whole' "$last: 2 arrays read, 2 compared" "$spmd" info --verify run
damage run/step-00000300.h5 spmd_kind
status 1 'a damaged name' "$spmd" info --verify run/step-00000300.h5

# Characters are counted, not bytes.
if command -v h5import >/dev/null; then
    echo '1 2 3' >numbers
    printf 'PATH %s\nINPUT-CLASS TEXTIN\nRANK 1\nDIMENSION-SIZES 3\nOUTPUT-SIZE 32\n' \
        'größe' >layout
    h5import numbers -c layout -o named.h5
    prints 'a name of other letters' '  größe  i32[3]  contiguous ' "$spmd" info named.h5
    prints 'under its heading' '  name   type    layout ' "$spmd" info named.h5
else
    skip 'a name of other letters' 'no h5import'
fi

status 2 'verify without a file' "$spmd" info --verify
status 2 'verify as JSON' "$spmd" info --verify --json digits.h5
plan_end
