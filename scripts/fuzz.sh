#!/bin/sh
# Runs every fuzz target for a while: FUZZTIME each, 20 s when unset.
set -eu
cd "$(dirname "$0")/.."
grep -rlE --include='*_test.go' '^func Fuzz' internal test | sort | while read -r file; do
	grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | while read -r _ target; do
		echo "=== $target in ./$(dirname "$file"), for ${FUZZTIME:-20s}"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-20s}" "./$(dirname "$file")"
	done || exit 1
done
