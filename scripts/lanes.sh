#!/usr/bin/env bash
# Runs the lanes of a build side by side: one line when a lane is done, all its
# output when it failed. While a lane runs, its newest line of output is shown,
# on a terminal as it comes, elsewhere every 15 s.
#
#   scripts/lanes.sh "pages" npm run build ::: "packages" scripts/deps.sh run
#
# Lanes are separated by ":::". It fails when one of them does, after all ended.
set -u
names=() pids=() begins=() ended=()
work=$(mktemp -d) || exit 1
finish() {
	local p
	for p in $(jobs -p); do kill "$p" 2>/dev/null; done
	wait
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

start() { # start <name> <command...>
	names+=("$1")
	begins+=("$SECONDS")
	ended+=("")
	"${@:2}" >"$work/${#names[@]}" 2>&1 </dev/null &
	pids+=($!)
}

lane=()
for word in "$@" ":::"; do
	if [ "$word" != ":::" ]; then
		lane+=("$word")
		continue
	fi
	[ ${#lane[@]} -ge 2 ] || { echo "usage: $0 NAME COMMAND… [::: NAME COMMAND…]" >&2; exit 2; }
	start "${lane[@]}"
	lane=()
done

newest() { # newest <lane>: the newest line of its output, without colours and redrawn bars
	tail -c 2000 "$work/$1" | tr '\r' '\n' | sed 's/\x1b\[[0-9;?]*[A-Za-z]//g; s/^[[:space:]]*//' | awk 'NF { line = $0 } END { printf "%.60s", line }'
}

failed=0 running=${#names[@]} printed=$SECONDS
while [ "$running" -gt 0 ]; do
	sleep 0.3
	show=
	for i in "${!names[@]}"; do
		[ -z "${ended[$i]}" ] || continue
		took=$((SECONDS - begins[i]))
		if kill -0 "${pids[$i]}" 2>/dev/null; then
			show="$show${show:+ | }${names[$i]} $took s: $(newest $((i + 1)))"
			continue
		fi
		wait "${pids[$i]}"
		code=$?
		ended[i]=yes running=$((running - 1))
		[ ! -t 1 ] || printf '\r\033[K'
		if [ $code = 0 ]; then
			printf '  %-19sdone (%s s)\n' "${names[$i]}:" "$took"
		else
			failed=$code
			printf '  %-19sfailed with code %s after %s s. Its output:\n' "${names[$i]}:" "$code" "$took"
			sed 's/^/    /' "$work/$((i + 1))"
		fi
	done
	if [ -t 1 ]; then
		[ -z "$show" ] || printf '\r  … %.*s\033[K' $(($(tput cols 2>/dev/null || echo 80) - 6)) "$show"
	elif [ -n "$show" ] && [ $((SECONDS - printed)) -ge 15 ]; then
		printed=$SECONDS
		printf '  … %s\n' "$show"
	fi
done
exit "$failed"
