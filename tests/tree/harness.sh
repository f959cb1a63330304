#!/bin/sh
# harness.sh - what runs the tests overlooks no failure.
. "$(dirname "$0")/../cli/tap.sh"

# The distribution of a tree that has one file.
tree=$tmp/tree distribution=$tmp/distribution
mkdir -p "$tree/scripts" "$distribution"
cp "$top/scripts/check-distribution" "$top/scripts/test" "$tree/scripts"
echo >"$tree/größe"

compare() {
    "$tree/scripts/check-distribution" "$distribution"
}

ok 'distribution: outside of a repository' compare
if command -v git >/dev/null; then
    echo 'no repository' >"$tree/.git"
    status 1 'distribution: git fails' compare
    prints 'distribution: git says why' fatal compare
    rm "$tree/.git"
    git -C "$tree" init -q && git -C "$tree" add 'größe'
    status 1 'distribution: a file is missing' compare
    prints 'distribution: which one' 'größe is missing' compare
    cp "$tree/größe" "$distribution"
    ok 'distribution: none is missing' compare
else
    skip 'distribution: files of a repository' 'no git'
fi

# runs STATUS LINE...: tests/run on a program that prints these lines and ends so.
runs() {
    end=$1
    shift
    {
        echo '#!/bin/sh'
        printf "echo '%s'\n" "$@"
        echo "exit $end"
    } >"$tmp/program"
    chmod +x "$tmp/program"
    env CHECK_WITH= "$top/tests/run" --serial "$tmp/program"
}

# adds COUNT STATUS LINE...: of failed cases, tests/run tells so many.
adds() {
    wanted=$1
    shift
    runs "$@" >"$tmp/tap"
    cat "$tmp/tap"
    [ "$(grep -c '^not ok ' "$tmp/tap")" = "$wanted" ]
}

ok 'run: all is well' adds 0 0 1..1 'ok 1 - a'
ok 'run: a case fails' adds 1 1 1..1 'not ok 1 - a'
ok 'run: no case' adds 1 0
ok 'run: an end before the last case' adds 1 0 1..2 'ok 1 - a'
ok 'run: a leak after the last case' adds 1 9 1..1 'ok 1 - a'
ok 'run: a leak, and a case fails' adds 2 9 1..1 'not ok 1 - a'

# makes LAST COMMAND: scripts/test where make check is COMMAND ends with the line LAST, and its
# exit status.
makes() {
    printf 'check:\n\t%s\n' "$2" >"$tree/build/Makefile"
    "$tree/scripts/test" --quick >"$tmp/told"
    tests_status=$?
    cat "$tmp/told"
    [ "$(tail -n 1 "$tmp/told")" = "$1" ] && return "$tests_status"
}

mkdir "$tree/build"
printf '#!/bin/sh\n' >"$tree/scripts/setup"
chmod +x "$tree/scripts/setup"
ok 'test: all is well' makes '1 passed, 0 failed' '@echo "PASS: tests/mpi/a 1 - np=1 - b"'
status 1 'test: a case fails' makes '0 passed, 1 failed' '@echo "FAIL: tests/mpi/a 1 - np=1 - b"'
status 1 'test: no case' makes '0 passed, 1 failed' '@true'
prints 'test: no case: where to look' 'see build/test-check.log' makes '0 passed, 1 failed' '@true'

# A launcher that hangs, as far as signals can end it.
printf '#!/bin/sh\ntrap "" TERM\necho >"%s"\nexec sleep 60\n' "$tmp/deaf" >"$tmp/launcher"
chmod +x "$tmp/launcher"
status 137 'run: a launcher that hangs is ended with its script' \
    env MPIEXEC="$tmp/launcher" sh -c '
        "$0" 1 true &
        until [ -e "$1" ]; do
            sleep 0.1
        done
        kill "$!"
        wait "$!"' "$top/scripts/run" "$tmp/deaf"
plan_end
