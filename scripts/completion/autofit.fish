# fish completion for autofit, as autofit --completion fish prints it

function __autofit_command # WHERE IT BEGINS
    set -l words (commandline -opc)[2..-1]
    set -l line (commandline -ct)
    if test (count $words) -ge $argv[1]
        set -l before (string escape -- $words[$argv[1]..-1])
        set line "$before $line"
    end
    complete -C "$line"
end

function __autofit_offer
    set -l words (commandline -opc)[2..-1]
    set -l cur (commandline -ct)
    # What is offered for --option=value is the value.
    set -l before (string match -r -- '^--[^=]*=' "$cur")
    for line in (command autofit --complete $words "$cur" 2>/dev/null)
        switch $line
            case ':command *'
                __autofit_command (string replace ':command ' '' -- $line)
            case :programs
                complete -C (commandline -ct)
            case :record
                command autofit show 2>/dev/null |
                    string match -rg '^([[:alnum:]._-]+)' | tail -n +2
            case :file
                __fish_complete_path (commandline -ct)
            case :folder
                __fish_complete_directories (commandline -ct)
            case '*'
                echo "$before$line"
        end
    end
end

complete -c autofit -f -a '(__autofit_offer)'
