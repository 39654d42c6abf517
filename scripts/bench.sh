#!/bin/sh
# Prints every figure we publish. Each program under test/bench measures us
# beside what one would take instead, in the same run, on the same machine.
set -eu
cd "$(dirname "$0")/.."
echo "=== benchmarks of packages"
go test -run '^$' -bench . -benchmem ./internal/...
for program in test/bench/*/; do
	echo "=== $program"
	go run "./$program"
done
