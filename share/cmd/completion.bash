# bash completion of astra, written by `astra completion bash`
_astra() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= others=
    if [ $COMP_CWORD -eq 1 ]; then
        COMPREPLY=($(compgen -W '{{#verbs}}{{verb}} {{/verbs}}--help --version' -- "$word"))
        return
    fi
    case ${COMP_WORDS[1]} in
{{#verbs}}
    {{verb}})
        case $before in
{{#options}}
{{#of_words}}
        {{option}}) COMPREPLY=($(compgen -W '{{words}}' -- "$word")); return ;;
{{/of_words}}
{{#of_files}}
        {{option}}) COMPREPLY=($(compgen -f -- "$word")); return ;;
{{/of_files}}
{{#of_folders}}
        {{option}}) COMPREPLY=($(compgen -d -- "$word")); return ;;
{{/of_folders}}
{{#of_anything}}
        {{option}}) return ;;
{{/of_anything}}
{{/options}}
        esac
        options='{{#options}}{{option}} {{/options}}'
{{#takes_runs}}
        others=$(cd astra-runs 2>/dev/null && echo *)
{{/takes_runs}}
{{#takes_shell}}
        others='bash zsh'
{{/takes_shell}}
        ;;
{{/verbs}}
    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$others" -- "$word") $(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _astra astra
