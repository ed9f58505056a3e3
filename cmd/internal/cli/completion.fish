# fish completion of PROGRAM:  PROGRAM completion fish | source
function __PROGRAM_complete
    set -l before (commandline -opc)
    set -l answers ($before[1] __complete fish (count $before) $before (commandline -ct) 2>/dev/null)
    if test (count $answers) -eq 0
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $answers
    end
end
complete -c PROGRAM -f -a '(__PROGRAM_complete)'
