#!/usr/bin/env bash
# Tests every capability, one step after another, and prints a summary at
# the end. A step that fails does not keep the later ones from running: one look
# shows all that is wrong. docs/testing.md says what belongs here and what not.
#
#   scripts/test.sh          everything
#   scripts/test.sh unit     the named steps only, on a machine that is prepared:
#                            lint unit waiting
set -u
cd "$(dirname "$0")/.." || exit 1
# As in the build of the binary: what one compiled, the other need not.
export CGO_ENABLED=0 GOFLAGS="${GOFLAGS:+$GOFLAGS }-trimpath -buildvcs=false"
unset MAKEFLAGS MFLAGS MAKELEVEL # the makes below are their own

results=$PWD/test-results
rm -rf "$results" && mkdir -p "$results" || exit 1
: >"$results/flaky.txt"
sum=bin/tools/gotestsum

names=() codes=() times=()
started=$SECONDS

record() { names+=("$1") codes+=("$2") times+=("$3"); }

verdict() { [ "$1" = 0 ] && echo passed || echo "FAILED ($1)"; }

step() { # step <name> <command...>
	local name=$1 begin=$SECONDS code
	shift
	printf '\n=== %s\n' "$name"
	"$@"
	code=$?
	record "$name" $code $((SECONDS - begin))
	printf -- '--- %s: %s after %d s\n' "$name" "$(verdict $code)" $((SECONDS - begin))
	return $code
}

summary() {
	local i failed=0 took=$((SECONDS - started))
	printf '\n=== Summary, after %d min %02d s\n' $((took / 60)) $((took % 60))
	for i in "${!names[@]}"; do
		printf '  %-12s%-8s%5d s\n' "${names[$i]}" "$([ "${codes[$i]}" = 0 ] && echo passed || echo FAILED)" "${times[$i]}"
		[ "${codes[$i]}" = 0 ] || failed=$((failed + 1))
	done
	if [ -s "$results/flaky.txt" ]; then
		echo "  FLAKY, passed on a later try; fix each of them (test-results/flaky.txt):"
		sed 's/^/    /' "$results/flaky.txt"
	fi
	if [ $failed = 0 ]; then
		printf '  all %d steps passed\n' "${#names[@]}"
	else
		node scripts/culprits.mjs "$results"/*.json
		printf '  %d of %d steps FAILED; the output of each is under "=== NAME", and in test-results/\n' $failed "${#names[@]}"
	fi
	[ $failed = 0 ]
}

# scratch prints the folder for the tests' own files: in memory where that has
# room and may run programs, because tests survive kills but never a power cut.
# The name is always the same, so that cached test results stay valid.
scratch() {
	local dir probe free
	dir=/dev/shm/athir-test-$(id -u) probe=$dir/probe.$$
	free=$(df -Pm /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
	# 755: the streaming server's user looks in.
	if [ "${free:-0}" -gt 4096 ] && mkdir -p -m 755 "$dir" && [ -O "$dir" ] &&
		printf '#!/bin/sh\n' >"$probe" && chmod 700 "$probe" && "$probe" 2>/dev/null; then
		find "$dir" -mindepth 1 -maxdepth 1 -mmin +1440 -exec rm -rf {} + # of tests that were killed
		echo "$dir"
	else
		echo "${TMPDIR:-/tmp}"
	fi
	rm -f "$probe"
}

# gotest <name> <gotestsum options…> -- <go test options…>: the compiler's own
# temporary files stay on the disk.
gotest() {
	local name=$1
	shift
	GOTMPDIR=${GOTMPDIR:-${TMPDIR:-/tmp}} TMPDIR=$(scratch) \
		$sum --format pkgname --format-hide-empty-pkg --hide-summary skipped --jsonfile "$results/$name.json" "$@"
}

# plain prints the packages without goroutines, whose list test/house keeps true:
# the race detector finds nothing in them and makes arithmetic ten times slower.
plain() { grep -v '^#' test/house/without-race.txt | sed "s|^|$(go list -m)/|"; }

# raced <command...>: with the race detector, which is C. The plain packages are
# compiled without it also where others use them.
raced() { CGO_ENABLED=1 GOFLAGS="$GOFLAGS $(plain | sed 's|.*|-gcflags=&=-race=false|' | tr '\n' ' ')" "$@"; }

# More packages at a time than there are processors: many wait for audio and for
# programs. Work on files runs at a low priority also in the tests: beside four busy loops
# audience/social has taken sixteen minutes of the thirty.
unit() {
	local all plain code=0
	all=$(go list ./... | grep -v -e '/test/e2e$' -e '/test/conformance$') || return 1
	plain=$(plain) || return 1
	# shellcheck disable=SC2086 # one word a package
	gotest unit-plain -- -vet=off -timeout 15m $plain || code=$?
	# shellcheck disable=SC2046
	raced gotest unit -- -race -vet=off -timeout 30m -p $(($(nproc) * 3)) $(grep -vxF "$plain" <<<"$all") || code=$?
	return $code
}

# again <name> <packages> <go test options…>: what starts whole programs may meet
# with what a busy machine does to one of those. It is tried again, and told.
again() {
	local name=$1 packages=$2 code
	shift 2
	gotest "$name" --rerun-fails=2 --rerun-fails-max-failures=5 --rerun-fails-report="$results/reruns-$name.txt" \
		--packages="$packages" -- -vet=off -timeout 60m "$@"
	code=$?
	[ $code != 0 ] || cat "$results/reruns-$name.txt" 2>/dev/null >>"$results/flaky.txt"
	return $code
}

# The stations carry no race detector: it takes five times the machine, and make soak has
# them with it. Most tests look at one shared station and wait, so many of them go at a time.
end_to_end() { again e2e ./test/e2e -parallel 16; }

conformance() { raced again conformance ./test/conformance -race; }

browser() {
	(cd web && npm run --silent check && npm test --silent && npm run --silent e2e)
	local code=$?
	[ ! -s web/test-results/flaky.txt ] || cat web/test-results/flaky.txt >>"$results/flaky.txt"
	return $code
}

# beside <name> <command>: its output with its name before it, its code in a file.
beside() {
	local name=$1 begin=$SECONDS
	{
		"$2" 2>&1
		echo $? $((SECONDS - begin)) >"$results/$name.code"
	} | tee "$results/$name.log" | sed -u "s/^/$(printf '%-11s' "$name") | /"
}

# Stations mostly wait, so these two share the machine. Browsers do not: beside them a
# station's own work, which has a low priority, came to nothing, and both took twice as long.
waiting() {
	local name code took all=0
	printf '\n=== browser\n'
	beside browser browser
	printf '\n=== end-to-end and conformance, side by side\n'
	beside end-to-end end_to_end &
	beside conformance conformance &
	wait
	for name in browser end-to-end conformance; do
		read -r code took <"$results/$name.code"
		record "$name" "$code" "$took"
		[ "$code" = 0 ] || all=1
	done
	return $all
}

prepare() {
	scripts/lanes.sh packages scripts/deps.sh test ::: pages make --no-print-directory pages ::: "Go tools" scripts/tools.sh &&
		make --no-print-directory build
}

wanted=${*:-prepare lint unit waiting}
for name in $wanted; do
	case $name in
	waiting) waiting ;;
	prepare) step prepare prepare || { summary; exit 1; } ;;
	lint) step lint scripts/lint.sh ;;
	unit) step unit unit ;;
	*) echo "usage: $0 [lint] [unit] [waiting]" >&2; exit 2 ;;
	esac
done
summary
