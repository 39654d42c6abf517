#!/bin/sh
# Checks the code without running it: formatting, and the vet tool of
# tools/check over every package, soak tests included.
set -eu
cd "$(dirname "$0")/.."
[ -x bin/tools/check ] || scripts/tools.sh
unformatted=$(git ls-files -z '*.go' | xargs -0 gofmt -l)
[ -z "$unformatted" ] || {
	echo "not formatted (run gofmt -w on them):" >&2
	echo "$unformatted" >&2
	exit 1
}
go vet -tags soak -vettool="$PWD/bin/tools/check" ./...
