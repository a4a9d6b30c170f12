# SPDX-License-Identifier: BSD-3-Clause
# Completion of lode for bash. 'lode complete' knows the commands and options; this file knows bash.

_lode()
{
    local word text
    COMPREPLY=()
    while IFS= read -r word && IFS= read -r text; do
        case $word,$text in
            ,files) compopt -o default ;;
            ,nospace) compopt -o nospace ;;
            *) COMPREPLY+=("$word") ;;
        esac
    done < <("$1" complete bash "$COMP_LINE" "$COMP_POINT" "$2" 2>/dev/null)
}

complete -F _lode lode
