#!/bin/sh
# rules.sh - the tree's own rules: layers, names, the form of sources and scripts.
. "$(dirname "$0")/../cli/tap.sh"

has() {
    command -v "$1" >/dev/null
}

ok 'layers' "$top/scripts/check-layers"
ok 'own headers' "$top/scripts/check-includes"
ok 'places of collective calls' "$top/scripts/check-places"
ok 'what README and tutorial show' "$top/scripts/check-docs"
ok 'symbols' "$top/scripts/check-symbols" .
tap_run "$top/scripts/check-format"
if [ "$tap_status" -eq 77 ]; then
    skip 'form of sources' 'no clang-format 14'
else
    tap_case 'form of sources' "$tap_status"
fi
if has shellcheck; then
    ok 'form of scripts' shellcheck -S warning -x -P "$top/tests/cli" "$top/scripts/"* "$top/bench/reshard-jax" \
        "$top/tests/run" "$top/tests/"*/*.sh
else
    skip 'form of scripts' 'no shellcheck'
fi
plan_end
