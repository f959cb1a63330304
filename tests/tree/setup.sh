#!/bin/sh
# setup.sh - scripts/setup configures once, and again where it is given options.
. "$(dirname "$0")/../cli/tap.sh"

# A tree whose packages are there, and whose configure keeps the options that it gets.
tree=$tmp/tree
mkdir -p "$tree/scripts" "$tmp/bin"
cp "$top/scripts/setup" "$tree/scripts"
touch "$tree/Makefile.in"
printf '#!/bin/sh\nprintf "%%s" installed\n' >"$tmp/bin/dpkg-query"
cat >"$tree/configure" <<'END'
#!/bin/sh
echo "configure: $*" >>options
echo all: >Makefile
touch config.status
END
chmod +x "$tree/configure" "$tmp/bin/dpkg-query"
PATH=$tmp/bin:$PATH

# sets_up LINE [OPTION...]: the last time that configure ran is LINE.
sets_up() {
    line=$1
    shift
    "$tree/scripts/setup" "$@" && [ "$(tail -n 1 "$tree/build/options")" = "$line" ]
}

ok 'configures' sets_up 'configure: --prefix=/a' --prefix=/a
ok 'not again' sets_up 'configure: --prefix=/a'
ok 'again, with options' sets_up 'configure: --prefix=/b' --prefix=/b
ok 'twice in all' [ "$(wc -l <"$tree/build/options")" -eq 2 ]
prints 'tells that it takes a while' 'setup: make, which takes some minutes' "$tree/scripts/setup" --prefix=/c
plan_end
