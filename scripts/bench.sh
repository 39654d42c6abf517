#!/bin/sh
# Prints every figure we publish. Each program under test/bench measures Athir
# and its alternatives in the same run, on the same machine.
set -eu
cd "$(dirname "$0")/.."
echo "=== benchmarks of packages"
go test -run '^$' -bench . -benchmem ./internal/...
for program in test/bench/*/; do
	echo "=== $program"
	go run "./$program"
done
