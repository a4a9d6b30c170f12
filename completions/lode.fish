# SPDX-License-Identifier: BSD-3-Clause
# Completion of lode for fish. 'lode complete' knows the commands and options; this file knows fish.

function __lode_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    $words[1] complete fish $words[2..-1] "$current" 2>/dev/null | while read -l word
        read -l text
        if test -n "$word"
            printf '%s\t%s\n' $word $text
        else if test "$text" = files
            __fish_complete_path "$current"
        end
    end
end

complete -c lode -f -a '(__lode_complete)'
