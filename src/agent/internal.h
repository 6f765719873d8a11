/* Between these files: text that goes into prompts, and what replies are read with. */
#ifndef AGENT_INTERNAL_H
#define AGENT_INTERNAL_H

#include "agent.h"

enum {
    MAX_FILE_BYTES = 256 << 10,  /* of a candidate */
    MAX_REPLY_BYTES = 1 << 20,   /* what is looked at of a reply */
    MAX_TESTER_CASES = 24,       /* added to the rules' suite */
    MAX_CASE_ELEMENTS = 48 << 10 /* of one of them, over all buffers */
};

/* ---- prompt_text.c ---- */

/* utf8_read that never stands still: at least a byte; *c -1 when it is none of UTF-8. */
size_t text_char(const char *s, size_t left, int32_t *c);
/* Text of others made harmless: valid UTF-8 without control and invisible characters, no fence, no marker of a
 * chat template. */
void text_neutral(struct str *out, const char *s, size_t len);
/* The first instruction of the asm statement that the line lies in; NULL: it lies in none, or is that line. */
const char *text_asm_of(struct arena *a, const char *file, int line);
char *text_head(struct arena *a, const char *s, size_t max); /* at most max bytes, no character cut */

/* ---- planner.c ---- */

double strategy_promise(const struct agent_strategy *s); /* more is tried first */
bool plan_tried_on_parent(const struct agent_plan_input *in, const struct agent_step *steps, size_t n);

/* ---- recall.c ---- */

/* The rules' strategies, most promising first, in the order that the memory makes of it, and among them steps
 * that gained together on versions alike. How many there are then, at most `cap`. */
size_t recall_order(const struct agent_plan_input *in, struct arena *a, struct agent_strategy *list, size_t n,
                    size_t cap);

/* ---- read_tester.c ---- */

double tester_reach(enum kernel_type t); /* numbers beyond are no longer ordinary inputs */

/* ---- read_json.c ---- */

/* The last JSON object of a reply that has one of the keys, or a list under keys[0] when the reply is a bare
 * list of objects. Lenient: prose and fences around it, comments, trailing commas, single quotes, bare words,
 * raw line ends in texts, an end that is missing. NULL with the complaint. The caller drops the reference. */
json_t *reply_json(struct arena *a, const char *reply, const char *const *keys, struct err *complaint);
/* A reply without what a reasoning model thought aloud; valid UTF-8. */
char *reply_spoken(struct arena *a, const char *reply);
const char *reply_text(struct arena *a, const json_t *o, const char *key,
                       size_t max);              /* one line; "" when absent */
bool reply_number(const json_t *v, double *out); /* 1.3, "1.3", "1.3x", "30 %" */

/* ---- read_block.c ---- */

/* After "// astra: transform", or "// astra: move" as earlier versions had it; NULL where the line is neither.
 */
const char *transform_line(const char *line);

/* The texts of a reply that may be the file, likeliest first: those that hold `entry` before all others. */
size_t reply_blocks(struct arena *a, const char *reply, const char *entry, char **blocks, size_t max);

/* ---- read_patch.c ---- */

/* A unified difference or SEARCH/REPLACE blocks; and the file that it makes of `file`. A change that does not
 * fit is the complaint: which, what it looks for, and what stands there. */
bool patch_is(const char *text);
bool patch_apply(struct arena *a, const char *file, const char *patch, char **merged, struct err *complaint);
/* functions_lack: does the block name a function of the file that it does not have? functions_merge: the file
 * with the functions, macros, constants and includes of the block in the place of its own of that name, and
 * what it lacks before the first of them. False where none of the functions is one of the file's. */
bool functions_lack(struct arena *a, const char *file, const char *block);
bool functions_merge(struct arena *a, const char *file, const char *block, char **merged,
                     struct err *complaint);

/* ---- prompt_parts.c ---- */

char *part_task(const struct agent_brief *b, struct arena *a);     /* share/prompts/task.md */
char *part_contract(const struct agent_brief *b, struct arena *a); /* share/prompts/contract.md */
char *part_suite(const struct agent_brief *b, struct arena *a);
char *part_reach(const struct agent_brief *b,
                 struct arena *a); /* of each buffer's values that a tester may ask for */
char *part_score(const struct agent_brief *b, struct arena *a); /* "1.31x as fast as the original" */
char *part_times(const struct agent_brief *b, struct arena *a, bool components);
char *part_lines(const struct agent_brief *b, struct arena *a, bool counters);
char *part_resources(const struct agent_brief *b, struct arena *a);
char *part_transforms(const struct agent_brief *b, struct arena *a, bool in_full);
char *part_lessons(const struct agent_brief *b, struct arena *a, size_t max);

/* The transforms' settings that apply to a version: "vectorise: 16 8 4". n is 0 where it does not apply. */
size_t transform_settings(const struct agent_version *v, const struct transform *ops, struct arena *a,
                          const int **settings, const struct transform_site **first);
/* "vectorise 16 + unroll" to steps; a setting left out is the transform's first choice. */
bool steps_of_text(const struct agent_version *v, const char *text, struct arena *a,
                   const struct agent_step **steps, size_t *n, struct err *complaint);

#endif
