#!/usr/bin/env bash
# Puts known faults into a copy of the code, one after another, and checks that
# the test named in each one's head fails. A fault that nothing catches is a
# hole in the suite. Each file of test/faults begins with lines of
#
#   fault: what is wrong, in one sentence
#   package: ./internal/node/playout        (or web: web/tests/x.spec.ts,
#                                              web: web/src/live/x.test.ts)
#   test: TestName
#
#   scripts/faults.sh [NAME]    only faults whose file name holds NAME
set -u
cd "$(dirname "$0")/.." || exit 1
copy=$(mktemp -d) || exit 1
trap 'git worktree remove --force "$copy/athir" >/dev/null 2>&1; rm -rf "$copy"' EXIT
trap 'exit 130' INT TERM HUP
# The copy is of what is committed.
git worktree add --quiet --detach "$copy/athir" HEAD || exit 1
head_of() { sed -n "s/^$2: //p" "$1" | head -n 1; }
missed=0 caught=0
for file in test/faults/*"${1:-}"*.patch; do
	fault=$(head_of "$file" fault) package=$(head_of "$file" package) spec=$(head_of "$file" web) name=$(head_of "$file" test)
	if ! git -C "$copy/athir" apply "$PWD/$file"; then
		echo "STALE   $(basename "$file" .patch): the patch does not fit the code any more"
		missed=$((missed + 1))
		continue
	fi
	if [ -n "$spec" ]; then
		[ -e "$copy/athir/web/node_modules" ] || ln -s "$PWD/web/node_modules" "$copy/athir/web/node_modules"
		case $spec in
		*.spec.ts) (cd "$copy/athir/web" && npm run --silent build && npx playwright test --retries 0 "${spec#web/}" -g "$name") ;;
		*) (cd "$copy/athir/web" && npx vitest run "${spec#web/}" -t "$name") ;;
		esac >"$copy/log" 2>&1
		code=$?
	else
		(cd "$copy/athir" && go test -count=1 -run "^$name\$" "$package") >"$copy/log" 2>&1
		code=$?
		# A fault that does not compile proves nothing, nor does a test that is not there.
		if grep -qE '\[build failed\]|no tests to run|\[setup failed\]' "$copy/log"; then code=0; fi
	fi
	git -C "$copy/athir" checkout --quiet -- .
	if [ $code != 0 ]; then
		caught=$((caught + 1))
		echo "caught  $(basename "$file" .patch): $fault ($name)"
	else
		missed=$((missed + 1))
		echo "MISSED  $(basename "$file" .patch): $fault ($name)"
		tail -n 20 "$copy/log" | sed 's/^/          /'
	fi
done
echo "$caught caught, $missed missed"
[ $missed = 0 ] && [ $caught -gt 0 ]
