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

unit() {
	local packages
	packages=$(go list ./... | grep -v -e '/test/' -e '/node_modules/') || return 1
	# shellcheck disable=SC2086 # one word a package
	go test -race -timeout 15m $packages
}

# End-to-end tests start whole stations; one package at a time, so that two of
# them do not fight for the processors.
end_to_end() { go test -race -timeout 40m -p 1 ./test/...; }

step deps scripts/deps.sh test || { summary; exit 1; }
step build make --no-print-directory build || { summary; exit 1; }
step lint make --no-print-directory lint
step unit unit
step end-to-end end_to_end
step browser browser
summary
