#!/bin/sh
# Prints every figure we publish. Each program under test/bench measures Athir
# and its alternatives in the same run, on the same machine.
set -eu
cd "$(dirname "$0")/.."
echo "=== benchmarks of packages"
go test -run '^$' -bench . -benchmem ./internal/...
for program in test/bench/*/; do
	echo "=== $program"
	if [ "$program" = test/bench/hls/ ]; then
		go run "./$program" -mediamtx "${MEDIAMTX:-}"
		continue
	fi
	go run "./$program"
done
echo "=== test/bench/mastering, music that no test uses"
scripts/bench-music.sh
echo "=== test/bench/sockets, 20,000 connections"
go run ./test/bench/sockets -sockets 20000 -more=false
echo "=== test/bench/hls, 1,500 listeners"
go run ./test/bench/hls -clients 1500 -mediamtx "${MEDIAMTX:-}"
