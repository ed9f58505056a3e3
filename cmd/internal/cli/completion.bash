# bash completion of PROGRAM:  eval "$(PROGRAM completion bash)"
_PROGRAM() {
	local line values=()
	while IFS=$'\t' read -r line _; do
		values+=("$line")
	done < <("${COMP_WORDS[0]}" __complete bash "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null)
	COMPREPLY=("${values[@]}")
	case ${COMPREPLY[0]-} in
	*[=\ \<\>]) compopt -o nospace ;;
	esac
}
complete -o default -F _PROGRAM PROGRAM
