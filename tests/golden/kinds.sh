#!/bin/sh
# kinds.sh - the golden cases; one line of TAP for each file of them.
. "$(dirname "$0")/../cli/tap.sh"

export GOLDEN="$PWD/tests/golden/golden"
for file in "$golden"/*.json; do
    kind=$(basename "$file" .json)
    if [ -x "$GOLDEN" ]; then
        mkdir "$tmp/$kind"
        cp "$file" "$tmp/$kind"
        ok "$kind" "$top/tests/golden-run" "$tmp/$kind"
    else
        skip "$kind" 'configure found no cJSON'
    fi
done
plan_end
