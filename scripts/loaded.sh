#!/usr/bin/env bash
# Runs make test again and again beside four busy loops, and prints a table: a test
# that fails here for no fault of the code would fail on a busy machine.
#
#   RUNS=10    how many times
#   APART=1    loops in a session of their own, as from another terminal: where the
#              kernel shares the processors between sessions (autogroup), the tests
#              get more. Otherwise they share one session with the loops.
set -u
cd "$(dirname "$0")/.." || exit 1
runs=${RUNS:-10} out=$(mktemp -d -t athir-loaded.XXXXXX) failed=0
${APART:+setsid} sh -c 'for i in 1 2 3 4; do sh -c "while :; do :; done" & done; wait' &
parent=$!
loops() { cat "/proc/$parent/task/$parent/children"; }
# shellcheck disable=SC2046 # one word a process
trap 'kill $(loops) $parent' EXIT
trap 'exit 130' INT TERM

# used prints the seconds of processor time that the loops have used so far.
used() {
	local pid
	for pid in $(loops); do cat "/proc/$pid/stat"; done | awk -v hz="$(getconf CLK_TCK)" '{ s += $14 + $15 } END { printf "%d", s / hz }'
}

printf '%s, %d processors, loops %s; logs in %s\n\n' "$(git describe --tags --always --dirty)" "$(nproc)" \
	"$([ -n "${APART:-}" ] && echo "in a session of their own" || echo "in the session of the tests")" "$out"
echo '| run | result | seconds | processor time of the loops | flaky |'
echo '|---|---|---|---|---|'
for ((i = 1; i <= runs; i++)); do
	go clean -testcache
	begin=$SECONDS before=$(used) result=passed
	scripts/test.sh >"$out/$i.log" 2>&1 || result=FAILED failed=$((failed + 1))
	cp -r test-results "$out/$i"
	printf '| %d | %s | %d | %d s | %s |\n' "$i" "$result" $((SECONDS - begin)) $(($(used) - before)) \
		"$(paste -sd ';' test-results/flaky.txt)"
done
[ "$failed" = 0 ]
