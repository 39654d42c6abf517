#!/bin/sh
# What can be seen without running the code: formatting, and the vet tool of
# tools/check over everything, the soak tests among it.
set -eu
cd "$(dirname "$0")/.."
[ -x bin/tools/check ] || scripts/tools.sh
crooked=$(git ls-files -z '*.go' | xargs -0 gofmt -l)
[ -z "$crooked" ] || {
	echo "not formatted (run gofmt -w on them):" >&2
	echo "$crooked" >&2
	exit 1
}
go vet -tags soak -vettool="$PWD/bin/tools/check" ./...
