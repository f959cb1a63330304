# shellcheck shell=sh
# measures.sh - the form of what a measure prints; after tap.sh.

# has_measures RANKS LEAST FILE: a header, then at least LEAST lines of seven fields, in which
# numbers are numbers; and remarks, behind a #.
has_measures() {
    awk -F, -v ranks="$1" -v least="$2" '
        function number(text) { return text ~ /^[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?$/ }
        NR == 1 { bad = $0 != "measure,ranks,bytes,ours_s,rival,rival_s,ratio"; next }
        /^# / { next }
        { lines++ }
        NF != 7 || $2 != ranks || $3 !~ /^[0-9]+$/ || !number($4) || !number($6) || !number($7) {
            print "not a measure: " $0
            bad = 1
        }
        END { exit bad || lines < least }
    ' "$3"
}
