#!/bin/sh
# Builds the tools of the test suite into bin/tools: the vet tool, the test runner
# and the packer. They are pinned in a module of their own, whose versions do not choose
# those of ours.
set -eu
cd "$(dirname "$0")/.."
CGO_ENABLED=0 go -C tools/check build -o "$PWD/bin/tools/" . gotest.tools/gotestsum
CGO_ENABLED=0 go build -modfile="$PWD/tools/go.mod" -o "$PWD/bin/tools/" github.com/goreleaser/nfpm/v2/cmd/nfpm
