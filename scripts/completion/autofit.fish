# fish completion for autofit, as autofit --completion fish prints it

function __autofit_candidates
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -l answer ($program --complete $words[2..-1] "$word" 2>/dev/null)
    # The value of --option=value is offered with what stands before it.
    set -l option (string match -r '^--[^=]*=' -- "$word")
    set -l value (string replace -r '^--[^=]*=' '' -- "$word")

    switch "$answer[1]"
        case 'command *'
            set -l from (math (string replace 'command ' '' -- $answer[1]) + 2)
            set -l line (string escape -- $words[$from..-1])
            complete -C "$(string join ' ' -- $line $word)"
        case files
            string replace -r '^' -- "$option" (__fish_complete_path "$value")
        case folders
            string replace -r '^' -- "$option" (__fish_complete_directories "$value")
        case words
            string replace -r '^' -- "$option" $answer[2..-1]
    end
end

complete -c autofit -f -a '(__autofit_candidates)'
