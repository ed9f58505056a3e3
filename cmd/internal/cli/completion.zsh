#compdef PROGRAM
# zsh completion of PROGRAM:  source <(PROGRAM completion zsh)
_PROGRAM() {
	local line value
	local -a values meanings
	while IFS=$'\t' read -r value line; do
		values+=("$value")
		meanings+=("${value}${line:+  -- $line}")
	done < <("${(Q)words[1]}" __complete zsh $((CURRENT - 1)) "${words[@]}" 2>/dev/null)
	if (( $#values == 0 )); then
		_files
		return
	fi
	if [[ $values[1] == *[=\ \<\>] ]]; then
		compadd -S '' -l -d meanings -a values
	else
		compadd -l -d meanings -a values
	fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
	_PROGRAM "$@"
else
	compdef _PROGRAM PROGRAM
fi
