# fish completion of whctl:  whctl completion fish | source
function __whctl_complete
    set -l before (commandline -opc)
    set -l answers ($before[1] __complete fish (count $before) $before (commandline -ct) 2>/dev/null)
    if test (count $answers) -eq 0
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $answers
    end
end
complete -c whctl -f -a '(__whctl_complete)'
