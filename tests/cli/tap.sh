# shellcheck shell=sh
# tap.sh - what a test script is written with; one line of TAP for each case.
#
#     . "$(dirname "$0")/tap.sh"
#     ok 'help' "$spmd" --help
#     status 2 'no such command' "$spmd" nonsense
#     prints 'mesh of two' 'x=2' "$spmd" layout x=2 'P(x)' 4
#     same 'layout of 8x8' "$golden/layout-8x8.txt" "$spmd" layout x=2,y=4 'P(x,y)' 8x8
#     ok 'sweep on 3 ranks' run 3 "$spmd" sweep --out "$tmp/sweep"
#     plan_end
#
# A script runs in the build directory, in any shell. It has $top, the source tree; $golden;
# $spmd, the command; and $tmp, a directory of its own that goes with it.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck disable=SC2034
golden=$top/tests/golden spmd=${SPMD:-$PWD/apps/spmd/spmd}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/spmd-cli.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
tap_count=0 tap_failed=0

# run N PROGRAM [ARGUMENT...]: with N ranks, bounded in time.
run() {
    "$top/scripts/run" -t "${TEST_SECONDS:-120}" "$@"
}

# tap_case NAME VERDICT: what the command printed goes to the log if the case failed.
tap_case() {
    tap_count=$((tap_count + 1))
    if [ "$2" = 0 ]; then
        echo "ok $tap_count - $1"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_count - $1"
        sed 's/^/    /' "$tmp/.out" "$tmp/.err"
    fi
}

# tap_run COMMAND [ARGUMENT...]: keeps what it prints and its exit status.
tap_run() {
    "$@" >"$tmp/.out" 2>"$tmp/.err" </dev/null
    tap_status=$?
}

# status N NAME COMMAND...: it exits with status N.
status() {
    tap_wanted=$1 tap_name=$2
    shift 2
    tap_run "$@"
    [ "$tap_status" -eq "$tap_wanted" ] || echo "exit status $tap_status, not $tap_wanted" >>"$tmp/.err"
    [ "$tap_status" -eq "$tap_wanted" ]
    tap_case "$tap_name" $?
}

# ok NAME COMMAND...: it succeeds.
ok() {
    status 0 "$@"
}

# not_ok NAME COMMAND...: it fails.
not_ok() {
    tap_name=$1
    shift
    tap_run "$@"
    [ "$tap_status" -ne 0 ]
    tap_case "$tap_name" $?
}

# prints NAME TEXT COMMAND...: TEXT stands in a line of its output or of its messages, whatever
# its exit status.
prints() {
    tap_name=$1 tap_text=$2
    shift 2
    tap_run "$@"
    cat "$tmp/.out" "$tmp/.err" | grep -qF -e "$tap_text"
    tap_verdict=$?
    [ "$tap_verdict" -eq 0 ] || echo "does not print: $tap_text" >>"$tmp/.err"
    tap_case "$tap_name" "$tap_verdict"
}

# same NAME FILE COMMAND...: it succeeds, and its output is the text of FILE.
same() {
    tap_name=$1 tap_file=$2
    shift 2
    tap_run "$@"
    [ "$tap_status" -eq 0 ] && diff -u "$tap_file" "$tmp/.out" >>"$tmp/.err"
    tap_case "$tap_name" $?
}

# json NAME COMMAND...: its output is JSON, as others read it.
json() {
    if command -v python3 >/dev/null; then
        tap_name=$1
        shift
        ok "$tap_name is JSON" sh -c '"$@" | python3 -m json.tool' sh "$@"
    else
        skip "$1 is JSON" 'no python3'
    fi
}

# narrow NAME COMMAND...: it succeeds, and no line of its output has more than 80 columns.
narrow() {
    tap_name=$1
    shift
    tap_run env LC_ALL=C "$@"
    [ "$tap_status" -eq 0 ] && ! grep -q '.\{81\}' "$tmp/.out"
    tap_case "no line of $tap_name is longer than 80 columns" $?
}

# skip NAME REASON
skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# The last line of each script, and so its exit status.
plan_end() {
    echo "1..$tap_count"
    [ "$tap_failed" -eq 0 ]
}
