#!/bin/sh
# harness.sh - what runs the tests overlooks no failure.
. "$(dirname "$0")/../cli/tap.sh"

# The distribution of a tree that has one file.
tree=$tmp/tree distribution=$tmp/distribution
mkdir -p "$tree/scripts" "$distribution"
cp "$top/scripts/check-distribution" "$tree/scripts"
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
plan_end
