#!/usr/bin/env bash
# Everything there is to check, one step after another, and a summary at the
# end. A step that fails does not keep the later ones from running: one look
# shows all that is wrong.
set -u
cd "$(dirname "$0")/.." || exit 1
export CGO_ENABLED=1 # the race detector is C
unset MAKEFLAGS MFLAGS MAKELEVEL # the makes below are their own

names=() codes=() times=()
started=$SECONDS

step() { # step <name> <command...>
	local name=$1 begin=$SECONDS code
	shift
	printf '\n=== %s: %s\n' "$name" "$*"
	"$@"
	code=$?
	names+=("$name") codes+=("$code") times+=($((SECONDS - begin)))
	printf -- '--- %s: %s after %d s\n' "$name" "$([ $code = 0 ] && echo passed || echo "FAILED ($code)")" $((SECONDS - begin))
	return $code
}

summary() {
	local i failed=0
	printf '\n=== Summary, after %d min %02d s\n' $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60))
	for i in "${!names[@]}"; do
		[ "${codes[$i]}" = 0 ] && continue
		[ $failed = 0 ] && printf '  first failure: %s (its output is above, under "=== %s")\n' "${names[$i]}" "${names[$i]}"
		failed=$((failed + 1))
	done
	for i in "${!names[@]}"; do
		printf '  %-12s%-8s%5d s\n' "${names[$i]}" "$([ "${codes[$i]}" = 0 ] && echo passed || echo FAILED)" "${times[$i]}"
	done
	if [ $failed = 0 ]; then
		printf '  all %d steps passed\n' "${#names[@]}"
	else
		printf '  %d of %d steps FAILED\n' $failed "${#names[@]}"
	fi
	[ $failed = 0 ]
}

browser() {
	(cd web && npm run --silent check && npm test --silent && npm run --silent e2e)
}

# What a test commits to a disk is read back by a process that may have been
# killed, never after the power went: memory does for it, and waits for no disk.
# Only the tests' own files go there, where it has room and runs programs. The
# name is always the same: results of tests are kept by it.
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

# Vet is off: the lint step has vetted the tests too. One package more than there
# are processors: many wait for audio in real time.
unit() {
	local packages
	packages=$(go list ./... | grep -v -e '/test/\(e2e\|conformance\)$' -e '/node_modules/') || return 1
	# shellcheck disable=SC2086 # one word a package
	GOTMPDIR=${GOTMPDIR:-${TMPDIR:-/tmp}} TMPDIR=$(scratch) go test -race -vet=off -timeout 15m -p $(($(nproc) + 1)) $packages
}

# End-to-end tests start whole stations. One package at a time, so that two of
# them do not fight for the processors; within it two stations, which mostly
# play in real time and are listened to.
end_to_end() {
	go test -race -vet=off -timeout 40m -p 1 -parallel 2 ./test/conformance ./test/e2e
}

step deps scripts/deps.sh test || { summary; exit 1; }
step build make --no-print-directory build || { summary; exit 1; }
step lint make --no-print-directory lint
step unit unit
step end-to-end end_to_end
step browser browser
summary
