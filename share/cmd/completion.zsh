#compdef astra
# zsh completion of astra, written by `astra completion zsh`
_astra() {
    local -a verbs runs
    verbs=(
{{#verbs}}
        '{{verb}}:{{summary}}'
{{/verbs}}
    )
    runs=(astra-runs/*(N:t))
    if (( CURRENT == 2 )); then
        _describe verb verbs
        return
    fi
    local verb=$words[2]
    shift words
    (( CURRENT-- ))
    case $verb in
{{#verbs}}
    {{verb}})
        _arguments{{#options}} \
            '{{option}}{{^of_nothing}}={{/of_nothing}}[{{help}}]{{^of_nothing}}:{{argument}}:{{/of_nothing}}{{#of_words}}({{words}}){{/of_words}}{{#of_files}}_files{{/of_files}}{{#of_folders}}_directories{{/of_folders}}'{{/options}}{{#takes_shell}} \
            '1:shell:(bash zsh)'{{/takes_shell}}{{#takes_runs}} \
            '*:run:{ compadd -a runs; _files }'{{/takes_runs}}{{#takes_files}} \
            '*:file:_files'{{/takes_files}}
        ;;
{{/verbs}}
    esac
}
_astra "$@"
