#!/usr/bin/env bash
# Long, statistical and load-dependent tests: hours of
# programme, chaos, crowds, latencies, sieges; and every end-to-end test once more, its
# stations with the race detector. Before a release, and nightly.
# The report is one page: test-results/soak.md.
#
#   scripts/soak.sh [PATTERN]    only tests that match, TestSoak… by default
set -u
cd "$(dirname "$0")/.." || exit 1
export CGO_ENABLED=1
export ATHIR_RACE=1 # stations carry the race detector
scripts/deps.sh soak || exit 1
[ -x bin/tools/gotestsum ] || scripts/tools.sh || exit 1
results=test-results
mkdir -p $results
rm -f $results/soak*.json # what is there is reported
report=$results/soak.md
packages=$(git grep -l '^//go:build soak' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|')
[ -n "$packages" ] || { echo "no soak test was found" >&2; exit 1; }
begin=$(date +%s)
# shellcheck disable=SC2086 # one word a package
bin/tools/gotestsum --format testname --jsonfile $results/soak.json -- \
	-tags soak -race -vet=off -v -count=1 -timeout 12h -p 1 -run "${1:-^TestSoak}" $packages 2>&1 | tee $results/soak.log
code=${PIPESTATUS[0]}
if [ $# = 0 ]; then # what make test runs without it
	bin/tools/gotestsum --format testname --jsonfile $results/soak-e2e.json -- \
		-vet=off -count=1 -timeout 3h -parallel 8 ./test/e2e 2>&1 | tee $results/soak-e2e.log
	[ "${PIPESTATUS[0]}" = 0 ] || code=1
fi
{
	echo "# Soak of $(git describe --tags --always --dirty), $(date -u +%Y-%m-%d), $((($(date +%s) - begin) / 60)) minutes"
	echo
	echo "Load at the end: $(cut -d' ' -f1-3 /proc/loadavg) on $(nproc) processors."
	echo
	echo '| test | result | seconds |'
	echo '|---|---|---|'
	grep -ho '"Action":"\(pass\|fail\)".*"Test":"[^"/]*".*' $results/soak*.json |
		sed -E 's/.*"Action":"([a-z]+)".*"Test":"([^"]*)","Elapsed":([0-9.]+).*/| \2 | \1 | \3 |/; t; s/"Action":"([a-z]+)".*"Test":"([^"]*)".*/| \2 | \1 | |/'
	echo
	echo '## What they printed'
	echo
	# t.Log lines only: file.go:line: text.
	grep -oE '"Output":" +[a-z_]+_test\.go:[0-9]+: [^"]*' $results/soak.json | sed -E 's/^"Output":" +/- /; s/\\n$//; s/\\u003c/</g; s/\\u003e/>/g; s/\\t/ /g'
} >$report
echo "report: $report"
exit "$code"
