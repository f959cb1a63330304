#!/bin/sh
# The command `spmd sweep`: its table on any number of ranks, its journal, its refusals.
. "$(dirname "$0")/tap.sh"
input=${SWEEP_INPUT:-$PWD/tests/cli/sweep_input}

# sweep N [OPTION...]
sweep() {
    sweep_ranks=$1
    shift
    run "$sweep_ranks" "$spmd" sweep "$@"
}

# table FILE.csv: without what differs from run to run.
table() {
    awk -F, 'NR == 1 { for (c = 1; c <= NF; c++) drop[c] = $c == "seconds" || $c == "rank" }
        { for (c = 1; c <= NF; c++) if (!drop[c]) printf "%s,", $c; print "" }' "$1"
}

# same_table NAME A.csv B.csv
same_table() {
    table "$2" >"$tmp/.a" && table "$3" >"$tmp/.b"
    diff -u "$tmp/.a" "$tmp/.b" >"$tmp/.out" 2>"$tmp/.err"
    tap_case "$1" $?
}

# column NAME FILE.csv: one column, without its name.
column() {
    awk -F, -v name="$1" 'NR == 1 { for (c = 1; c <= NF; c++) if ($c == name) at = c; next }
        { print $at }' "$2"
}

# refuses NAME TEXT [OPTION...]: with exit status 2 and one message that has TEXT, on 1 and 4 ranks.
refuses() {
    tap_name=$1 tap_text=$2
    shift 2
    for tap_ranks in 1 4; do
        tap_run sweep "$tap_ranks" "$@"
        [ "$tap_status" -eq 2 ] && [ "$(grep -c '^spmd: error: ' "$tmp/.err")" -eq 1 ] &&
            grep '^spmd: error: ' "$tmp/.err" | grep -qF -e "$tap_text"
        tap_verdict=$?
        [ "$tap_verdict" -eq 0 ] || echo "exit status $tap_status; wanted: $tap_text" >>"$tmp/.err"
        tap_case "refuses $tap_name on $tap_ranks" "$tap_verdict"
    done
}

# underway PREFIX: waits until a sweep has its first row.
underway() {
    waits=0
    until cat "$1".journal/rows.* 2>/dev/null | grep -q ' done ' || [ $waits -gt 600 ]; do
        sleep 0.05
        waits=$((waits + 1))
    done
}

small='--grid lr=0.03..0.3:log:3 --grid width=16,32 --set epochs=15'

# The table does not depend on the ranks: 7 configurations, so that blocks are uneven and some empty.
seven='--grid lr=0.01..0.5:7 --set width=24 --set epochs=10'
for ranks in 1 2 3 8; do
    # shellcheck disable=SC2086
    ok "a sweep on $ranks" sweep $ranks $seven --out "$tmp/ranks$ranks"
    same_table "the table of $ranks is that of 1" "$tmp/ranks1.csv" "$tmp/ranks$ranks.csv"
done
balance() { column rank "$1" | sort | uniq -c | awk '{ print $1 }' | sort -n | sed -n '1p;$p' | tr '\n' ' '; }
ok 'ranks are balanced to one' [ "$(balance "$tmp/ranks3.csv")" = '2 3 ' ]
sweep 2 --set epochs=1 --set lr=0.1 --out "$tmp/quiet" >"$tmp/quiet.out" 2>"$tmp/quiet.err"
ok 'it is quiet where there is no terminal' [ ! -s "$tmp/quiet.err" ]
shown='2 of 2 done'
prints 'unless it is asked for progress' "$shown" \
    sweep 2 --progress --grid lr=0.1,0.2 --set epochs=1 --out "$tmp/asked"
if command -v script >/dev/null; then
    prints 'progress on a terminal' "$shown" \
        script -qec "$spmd sweep --grid lr=0.1,0.2 --set epochs=1 --out $tmp/seen" /dev/null
    prints 'which may be the launcher'"'"'s' "$shown" script -qec \
        "$top/scripts/run 2 $spmd sweep --grid lr=0.1,0.2 --set epochs=1 --out $tmp/behind" /dev/null
else
    skip 'progress on a terminal' 'no script(1)'
fi

# What it finds.
# shellcheck disable=SC2086
prints 'a small space' '6 configurations: 6 done, 0 failed, 0 diverged, 0 not run' \
    sweep 2 --grid lr=0.1,0.3,0.5 --grid width=64,128 --set epochs=30 --out "$tmp/best"
ok 'the best of it is right for 96 % of the test rows' \
    awk -v best="$(column test_accuracy "$tmp/best.csv" | sort -g | tail -n 1)" 'BEGIN { exit !(best >= 0.96) }'
ok 'the default space has 48' [ "$(sweep 1 --set epochs=0 --out "$tmp/default" | sed -n '1s/ .*//p')" = 48 ]

printf 'lr,width\n0.1,16\n0.1,-1\n0.1,2.5\n1e30,16\n1e30,-1\n1e30,2.5\n' >"$tmp/impossible.csv"
printf 'width\n16\n-1\n' >"$tmp/negative.csv"

# States: an impossible width fails, a huge learning rate diverges, neither is the best.
ok 'a sweep with rows that fail and diverge' \
    sweep 2 --table "$tmp/impossible.csv" --set epochs=5 --out "$tmp/states"
ok 'their states' [ "$(column state "$tmp/states.csv" | tr '\n' ' ')" = 'done failed failed diverged failed failed ' ]
ok 'what there is not is an empty cell' [ "$(column test_accuracy "$tmp/states.csv" | sed -n '2p;4p' | tr '\n' ' ')" = '  ' ]
ok 'every row has its index' [ "$(column index "$tmp/states.csv" | tr '\n' ' ')" = '0 1 2 3 4 5 ' ]
ok 'seconds are short' [ -z "$(column seconds "$tmp/states.csv" | grep '[0-9.]\{12\}')" ]
ok 'a failed row has its message' grep -q '"width=2.5 is not a whole number' "$tmp/states.csv"
prints 'a configuration that failed is named' '4 of 6 configurations failed; the first one is configuration 1: width=-1' \
    sweep 1 --resume --table "$tmp/impossible.csv" --set epochs=5 --out "$tmp/states"
prints 'only what is done is ranked' '   1        0.1 ' sweep 1 --resume --top 9 --out "$tmp/states" \
    --table "$tmp/impossible.csv" --set epochs=5
ok 'and nothing else' [ "$(grep -c '^ *[0-9][0-9]*  ' "$tmp/.out")" -eq 1 ]
status 1 'strict: a failed row fails the run' \
    sweep 1 --strict --table "$tmp/negative.csv" --set epochs=1 --out "$tmp/strict"

# Going on.
# shellcheck disable=SC2086
ok 'an unbroken sweep' sweep 2 $small --out "$tmp/whole"
# shellcheck disable=SC2086
prints 'a limit leaves rows' '4 done, 0 failed, 0 diverged, 2 not run' \
    sweep 2 $small --limit 4 --out "$tmp/part"
ok 'which are not run' [ "$(column state "$tmp/part.csv" | grep -c 'not run')" -eq 2 ]
# shellcheck disable=SC2086
prints 'resume tells what there is' '4 done, 0 failed, 0 diverged; 2 not run' \
    sweep 3 $small --resume --out "$tmp/part"
same_table 'and its table is the unbroken one' "$tmp/whole.csv" "$tmp/part.csv"
ok 'every row once' [ "$(cat "$tmp"/part.journal/rows.* | wc -l)" -eq 6 ]

printf 'torn off in the mid' >>"$tmp/part.journal/rows.0"
sed 's/done/dome/' "$tmp/part.journal/rows.1" >"$tmp/.rows" && cp "$tmp/.rows" "$tmp/part.journal/rows.1"
# shellcheck disable=SC2086
prints 'damaged lines are left out' 'damaged lines' sweep 1 $small --resume --out "$tmp/part"
same_table 'and their rows run again' "$tmp/whole.csv" "$tmp/part.csv"
prints 'resume may ask for more' '6 done, 0 failed, 0 diverged; 3 not run' sweep 2 --resume --top 0 \
    --grid width=16,32,64 --grid lr=0.03..0.3:log:3 --set epochs=15 --out "$tmp/part"
prints 'and for less, which is told' \
    "1 row of $tmp/strict.journal is not asked for now: it stays there, but $tmp/strict.csv and $tmp/strict.h5 are without it" \
    sweep 2 --resume --grid width=16 --set epochs=1 --out "$tmp/strict"
prints 'retry of what failed' '1 failed' sweep 1 --resume --retry-failed --top 0 \
    --table "$tmp/negative.csv" --set epochs=1 --out "$tmp/strict"
prints 'one is one' '1 configuration is left' sweep 1 --set lr=0.1 --set width=16 --set momentum=0 --limit 0 --out "$tmp/one"

# A rank killed in the middle.
slow='--grid lr=0.01..0.1:10 --set width=48 --set epochs=400'
victim() {
    for process in $(grep -lsF -e "$tmp/killed" /proc/[0-9]*/cmdline); do
        process=${process%/cmdline}
        [ "$(readlink "$process/exe")" = "$(readlink -f "$spmd")" ] && echo "${process#/proc/}"
    done | tail -n 1
}
# shellcheck disable=SC2086
sweep 2 $slow --out "$tmp/killed" >"$tmp/.log" 2>&1 &
underway "$tmp/killed"
kill -9 "$(victim)" 2>/dev/null
ok 'a rank is killed in the middle' [ $? -eq 0 ]
wait
ok 'there is no table then' [ ! -e "$tmp/killed.csv" ]
# shellcheck disable=SC2086
ok 'resume after it, on other ranks' sweep 3 $slow --resume --out "$tmp/killed"
# shellcheck disable=SC2086
ok 'the same unbroken' sweep 2 $slow --out "$tmp/unbroken"
same_table 'has the same table' "$tmp/unbroken.csv" "$tmp/killed.csv"

# A sweep that is ended says where it stands. Started without mpirun, which may lose the last words
# of ranks that it ends.
# shellcheck disable=SC2086
"$spmd" sweep $slow --out "$tmp/ended" >"$tmp/.out" 2>"$tmp/.err" </dev/null &
child=$!
underway "$tmp/ended"
kill -TERM $child
wait $child
[ "$(grep -c "^spmd: note: stopped; what has ended is in $tmp/ended.journal: --resume goes on" "$tmp/.err")" -eq 1 ]
tap_case 'last words of a sweep that is ended' $?
ok 'it has no table' [ ! -e "$tmp/ended.csv" ]

# One sweep at a time; the first one is held while others try.
# shellcheck disable=SC2086
"$spmd" sweep --grid lr=0.01..0.1:3 --set width=48 --set epochs=400 --out "$tmp/held" >"$tmp/.log" 2>&1 &
child=$!
underway "$tmp/held"
kill -STOP $child
refuses 'a second sweep' "another sweep is writing $tmp/held" --out "$tmp/held"
refuses 'a second sweep that resumes' "another sweep is writing $tmp/held" --resume --out "$tmp/held"
refuses 'a second sweep by force' "another sweep is writing $tmp/held" --force --out "$tmp/held"
kill -CONT $child
wait $child
ok 'the first one ends well' [ $? -eq 0 ]
ok 'with all of its rows' [ "$(column state "$tmp/held.csv" | grep -c '^done')" -eq 3 ]

# Of several rows of a configuration the last one of the highest rank counts.
for out in first second third; do
    sweep 1 --set lr=0.1 --set width=16 --set momentum=0 --set epochs=2 --out "$tmp/$out" >/dev/null 2>&1
done
cp "$tmp/third.journal/rows.0" "$tmp/first.journal/rows.10"
cp "$tmp/second.journal/rows.0" "$tmp/first.journal/rows.2"
ok 'a configuration may stand there again' \
    sweep 1 --resume --set lr=0.1 --set width=16 --set momentum=0 --set epochs=2 --out "$tmp/first"
ok 'then the last one counts' [ "$(column seconds "$tmp/first.csv")" = "$(column seconds "$tmp/third.csv")" ]
mkfifo "$tmp/second.journal/rows.1"
refuses 'a journal with a pipe' 'rows.1 is no regular file' --resume \
    --set lr=0.1 --set width=16 --set momentum=0 --set epochs=2 --out "$tmp/second"

# Samples and tables.
drawn='--grid lr=0.01..1:log --grid width=8..64 --grid momentum=0,0.5,0.9 --set epochs=3'
# shellcheck disable=SC2086
ok 'a sample' sweep 2 $drawn --sample 9 --out "$tmp/nine"
# shellcheck disable=SC2086
ok 'a larger one' sweep 3 $drawn --sample 12 --out "$tmp/twelve"
head -n 10 "$tmp/twelve.csv" >"$tmp/head.csv"
same_table 'begins as the smaller one' "$tmp/nine.csv" "$tmp/head.csv"
ok 'whole numbers are whole' [ "$(column width "$tmp/nine.csv" | grep -c '\.')" -eq 0 ]

ok 'an HDF5 file of tables and data' run 2 "$input" "$tmp/input.h5"
mine="--data $tmp/input.h5 --x images --y labels"
# shellcheck disable=SC2086
prints 'data and a table from HDF5' '4 configurations: 4 done' \
    sweep 2 $mine --table "$tmp/input.h5:table" --set epochs=20 --out "$tmp/hdf5"
printf 'width, lr\n8,0.05\n\n16,0.05\r\n8,0.2\n16,0.2\n' >"$tmp/table.csv"
# shellcheck disable=SC2086
prints 'the same table from CSV, other columns first: nothing to run' '4 done, 0 failed, 0 diverged; 0 not run' \
    sweep 3 $mine --table "$tmp/table.csv" --set epochs=20 --resume --out "$tmp/hdf5"
# shellcheck disable=SC2086
prints 'a table times a grid' '8 configurations' \
    sweep 1 $mine --table "$tmp/table.csv" --grid seed=0,1 --set epochs=1 --out "$tmp/times"
prints 'a table of an earlier sweep' "$tmp/hdf5.csv: 9 columns of a sweep's results are left out" \
    sweep 2 --table "$tmp/hdf5.csv" --grid seed=0,1 --out "$tmp/seeds"
ok 'is a table of its configurations' [ "$(sed -n '1s/,test_.*//p' "$tmp/seeds.csv")" = 'index,width,lr,epochs,seed' ]
printf '\357\273\277"lr" ,"width",message\r\n"0.05"\t, 8,"a, ""b"""\r\n0.1,16,\r\n' >"$tmp/quoted.csv"
prints 'quotes, blanks, a byte order mark' '2 configurations: 2 done' \
    sweep 2 --table "$tmp/quoted.csv" --set epochs=1 --out "$tmp/quoting"
ok 'are no values' [ "$(column lr "$tmp/quoting.csv" | tr '\n' ' ')" = '0.05 0.1 ' ]
prints 'repeated rows are left out' '2 of 5 configurations' \
    sweep 2 --grid width=16,32,16,64,32 --set epochs=0 --out "$tmp/repeats"
if command -v h5dump >/dev/null; then
    prints 'the HDF5 file is plain' '1, 1, 1, 1' h5dump -d /state "$tmp/hdf5.h5"
    prints 'with a column for each hyperparameter' '0.05, 0.05, 0.2, 0.2' h5dump -d /config/lr "$tmp/hdf5.h5"
else
    skip 'the HDF5 file is plain' 'no h5dump'
fi

# Wrong uses.
out="--out $tmp/refused"
# shellcheck disable=SC2086
prints 'an HDF5 file without a dataset' 'of an HDF5 file, name the dataset: FILE.h5:DATASET' \
    sweep 1 $out --table "$tmp/input.h5"
refuses 'an unknown option' 'no option --gird' --gird lr=1
refuses 'an unknown hyperparameter' 'no hyperparameter "foo": there are lr' --grid foo=1
refuses 'a NaN in a grid' 'is not finite' --grid lr=0.1,nan
refuses 'a grid without a count' 'has a count' $out --grid lr=0.1..1
refuses 'a text for a number' 'is no number' --grid lr=0.1,x
refuses 'a value that cannot be' 'width=8.5 is not a whole number' --grid width=8,8.5
refuses 'one value that cannot be' 'lr=-1 is not a positive number' --set lr=-1
refuses 'a range that cannot be' 'momentum=1 is not a number in [0, 1)' --grid momentum=0..1:3
refuses 'a log range from 0' 'positive ends' --grid lr=0..1:log:4
refuses 'a name twice' 'given twice' --grid lr=1 --set lr=2
refuses 'a huge grid' 'are more than' $out --grid lr=0.1..1:5000 --grid decay=0..1:5000
refuses 'a sample of nothing' '--sample takes a whole number from 1' --sample 0
refuses 'a missing data file' "$tmp/nothing.h5" $out --data "$tmp/nothing.h5"
refuses 'a file that is not HDF5' 'table.csv' $out --data "$tmp/table.csv"
# shellcheck disable=SC2086
refuses 'a missing dataset' 'nothing' $out $mine --y nothing
# shellcheck disable=SC2086
refuses 'a dataset of the wrong rank' 'dataset labels is 1-d' $out $mine --x labels
# shellcheck disable=SC2086
refuses 'labels that are not whole' 'labels are whole numbers' $out $mine --y images
# shellcheck disable=SC2086
refuses 'a wrong number of labels' '61 rows and y 60' $out $mine --y few
# shellcheck disable=SC2086
refuses 'data with NaN' 'x is not finite in row 0' $out $mine --x nan_images
refuses 'an HDF5 table without names' 'no attribute "names"' $out --table "$tmp/input.h5:nameless"
refuses 'an HDF5 table with NaN' 'lr is not finite' $out --table "$tmp/input.h5:nan_table"
refuses 'a missing table' "cannot open $tmp/nothing.csv" $out --table "$tmp/nothing.csv"
printf 'lr,width\n0.1,8\n0.2\000,8\n0.3,8\n' >"$tmp/nul.csv"
printf 'lr;width\n0.1;8\n' >"$tmp/semicolons.csv"
printf 'lr,width\n0.1,8\n0.1,\n' >"$tmp/empty.csv"
printf 'lr,width\n0.1\r8\n' >"$tmp/cr.csv"
printf 'lr,colour\n0.1,8\n' >"$tmp/unknown.csv"
mkfifo "$tmp/fifo.csv"
refuses 'a table with a NUL byte' 'has a NUL byte' $out --table "$tmp/nul.csv"
refuses 'semicolons' 'columns are separated by commas' $out --table "$tmp/semicolons.csv"
refuses 'an empty cell' 'line 3: width is empty' $out --table "$tmp/empty.csv"
refuses 'a CR between numbers' '1 field under 2 names' $out --table "$tmp/cr.csv"
refuses 'an unknown column' 'no hyperparameter "colour": there are lr' $out --table "$tmp/unknown.csv"
refuses 'a pipe for a table' 'is no regular file' $out --table "$tmp/fifo.csv"
refuses 'a device for a table' 'is no regular file' $out --table /dev/zero
refuses 'an output in no directory' 'cannot make the directory' --out "$tmp/nowhere/sweep"
refuses 'an output that is there' '--force begins anew' --out "$tmp/whole"
# shellcheck disable=SC2086
refuses 'a journal of another sweep' 'its seed is 0, not 5' $small --seed 5 --resume --out "$tmp/whole"
ok 'a refused sweep leaves nothing' [ -z "$(ls -d "$tmp"/refused* 2>/dev/null)" ]
# shellcheck disable=SC2086
ok 'force begins anew' sweep 2 $small --seed 5 --force --out "$tmp/whole"
ok 'with other numbers' [ "$(table "$tmp/whole.csv")" != "$(table "$tmp/part.csv" | head -n 7)" ]

ok 'help' "$spmd" sweep --help
plan_end
