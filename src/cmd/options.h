/* options: the tables of verbs and options, for whoever writes them down: --help, completions, the manual page.
 */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include "cmd/cmd.h"

enum option_kind { TEXT, COUNT, NUMBER, NUMBER0, SECONDS, FLAG, MODEL, MODEL_FLAG, COMPILER };

struct option {
    const char *name, *argument;
    size_t field;
    enum option_kind kind;
    const char *verbs, *fallback, *help;
};

struct verb {
    const char *name;
    char letter;
    const char *words, *summary, *text;
    int min_words, max_words;
    int (*run)(const struct cmd_args *args);
};

const struct verb *options_verbs(size_t *n);
/* The options of a verb: *at from 0 on, NULL after the last. */
const struct option *options_next(const struct verb *v, size_t *at);

extern const char options_exit_status[];

#endif
