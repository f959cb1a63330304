#!/bin/sh
# rules.sh - the tree's own rules: layers, names, the form of sources and scripts.
. "$(dirname "$0")/../cli/tap.sh"

has() {
    command -v "$1" >/dev/null
}

ok 'layers' "$top/scripts/check-layers"
ok 'what the README shows' "$top/scripts/check-docs"
ok 'symbols' "$top/scripts/check-symbols" .
if has clang-format; then
    ok 'form of sources' "$top/scripts/check-format"
else
    skip 'form of sources' 'no clang-format'
fi
if has shellcheck; then
    ok 'form of scripts' shellcheck -S warning -x -P "$top/tests/cli" "$top/scripts/"* "$top/tests/run" \
        "$top/tests/"*/*.sh
else
    skip 'form of scripts' 'no shellcheck'
fi
plan_end
