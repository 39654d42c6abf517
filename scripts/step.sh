#!/bin/sh
# Runs one step of the build: one line when it is done, all its output when it
# failed.
#
#   scripts/step.sh "pages" npm run build
set -u
name=$1
shift
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM HUP
begin=$(date +%s)
[ ! -t 1 ] || printf '  %-19s…' "$name:"
"$@" >"$log" 2>&1
code=$?
[ ! -t 1 ] || printf '\r\033[K'
took=$(($(date +%s) - begin))
if [ $code = 0 ]; then
	printf '  %-19sdone (%s s)\n' "$name:" "$took"
else
	printf '  %-19sfailed with code %s after %s s: %s\n' "$name:" "$code" "$took" "$*"
	cat "$log"
fi
exit $code
