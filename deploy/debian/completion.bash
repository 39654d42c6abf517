# bash completion for athir. It asks the program itself, so it is never out of date.
_athir() {
	local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} word words=()
	COMPREPLY=()
	case $before in
	--data | --media | --out | -o)
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		return
		;;
	esac
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		[[ $word != [a-z]* || $word == */* ]] || words+=("$word")
	done
	mapfile -t COMPREPLY < <(compgen -W "$(athir "${words[@]}" --help 2>/dev/null | awk -v n="${#words[@]}" '
		/^Commands:/ { commands = 1 }
		commands && /^  [a-z]/ && $(n + 1) ~ /^[a-z]/ { print $(n + 1) }
		!commands && match($0, /--[a-z][a-z-]*/) { print substr($0, RSTART, RLENGTH) }')" -- "$current")
} && complete -o bashdefault -o default -F _athir athir
