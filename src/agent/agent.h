/* agent: the four roles. A role has two backends behind one set of structs: `rules`, here, costs nothing and
 * knows the transforms of rewrite/; a model is the other. Everything a backend is told and everything it
 * answers is plain data, so that it can be stored, shown and replayed. No backend ever judges: verdicts come
 * from the trial. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "base/base.h"
#include "llm/llm.h"
#include "rewrite/rewrite.h"
#include "tune/tune.h"
#include "verdict/verdict.h"

/* ---- the tester ---- */

struct agent_suite {
    const struct task_case *cases;
    size_t n_cases;
    const char *text; /* what is in it, for people */
};

void agent_test_rules(const struct task *t, struct arena *a, uint64_t seed, struct agent_suite *s);

/* ---- what the profiler sees ---- */

struct agent_workload { /* one shape of the version at hand */
    const char *dims;   /* "rows=16 d=4096" */
    struct trial_time time;
};

struct agent_line { /* a hot source line */
    const char *text;
    struct trial_line counters;
};

struct agent_profile {
    const char *device, *basis; /* "measured" or "modelled" */
    const struct agent_workload *workloads;
    size_t n_workloads;
    const struct agent_line *lines;
    size_t n_lines;
    unsigned registers, spill_bytes, shared_bytes;
    const char *redundant; /* traffic that changes nothing, in words; NULL: none */
};

struct agent_diagnosis {
    const char *bound_by; /* what bounds most of the time over the workloads */
    const char *text;     /* a paragraph for people */
    double share_of_copy; /* geometric mean of copy_us / us */
    double scattered;     /* share of the time of lines whose accesses move twice the sectors that they need */
};

void agent_diagnose_rules(const struct agent_profile *p, struct arena *a, struct agent_diagnosis *d);

/* ---- what the planner and the coder work on ---- */

/* One version opened for rewriting: the kernel, what the task says of its parameters, the plans of all
 * workloads. */
struct agent_version {
    const struct task *task;
    const char *path;
    struct transform_input input;
    struct kernel *kernel;
    struct agent_sites *sites; /* one a transform, found when first asked for */
    struct agent_sites *every; /* the same, of all settings */
    struct arena *arena;
};

bool agent_version_open(struct agent_version *v, struct arena *a, const struct task *t, const char *path,
                        const char *text, const struct kernel_limits *limits, struct err *err);
void agent_version_close(struct agent_version *v);
/* Where a transform of transforms applies; it is looked for once. */
size_t agent_version_sites(const struct agent_version *v, const struct transform *transform,
                           const struct transform_site **sites);
/* The same, with sites for every legal setting of its parameters. */
size_t agent_version_every_site(const struct agent_version *v, const struct transform *transform,
                                const struct transform_site **sites);

/* The versions of the texts that were asked for last: what a step left is what the next one begins with, and
 * what many settings of it begin with. */
enum { AGENT_VERSIONS_KEPT = 16 };
struct agent_versions {
    const struct task *task;
    const char *path;
    const struct kernel_limits *limits;
    struct agent_kept {
        struct arena *arena; /* NULL: none is kept here */
        const char *text;
        struct agent_version v;
        uint64_t asked; /* when last */
    } kept[AGENT_VERSIONS_KEPT];
    uint64_t n_asked;
};
struct agent_versions *agent_versions_open(const struct task *t, const char *path,
                                           const struct kernel_limits *limits);
void agent_versions_close(struct agent_versions *all);
/* Stands until so many others were asked for; NULL with the reason. */
const struct agent_version *agent_versions_get(struct agent_versions *all, const char *text, struct err *err);
/* Is it a kernel file of the task? */
bool agent_versions_stands(struct agent_versions *all, const char *text, struct err *why_not);

struct agent_version_of { /* one of several that a launcher may choose from */
    const char *name;     /* "the original", "candidate 7" */
    const char *text;
    const double *speedups; /* over the original, by workload */
};

/* A transform everywhere it applies with that setting; or "dispatch PARAM <=", "dispatch PARAM * PARAM >=": the
 * other version where that holds. */
struct agent_step {
    const char *transform;
    int setting;      /* AGENT_OWN_CHOICE: what the transform prefers at that point, if it applies there */
    const char *text; /* of one that was carried out: what it left */
    const struct agent_version_of *other; /* of dispatch; NULL: the original */
};
#define AGENT_OWN_CHOICE TRANSFORM_OWN_CHOICE

struct agent_attempt { /* what became of an earlier candidate */
    int id, parent;
    const struct agent_step *steps; /* what it did to its parent */
    size_t n_steps;
    const char *verdict;
    bool passed;  /* correct, whatever its speed */
    bool untold;  /* the machine was too slow to judge it: tried, and nothing is known of it */
    double gain;  /* over its parent; NAN unless timed */
    double score; /* over the original; NAN unless timed */
};

/* ---- memory across runs (docs/rewrites.md): what steps did to versions like this one, on whatever kernel. It
 * orders what is tried; no verdict comes from it, and nothing is left out because of it. ---- */

struct agent_features { /* of one version; log: base 2 of the geometric mean over the workloads; NAN: unknown */
    double dram, l2, issue, latency, launch, sync; /* shares of the time, 0 to 1 */
    double copy;                                   /* log of the copy's share of the time */
    double bytes;                                  /* log of the compulsory bytes */
    double flops;                                  /* log of the operations a compulsory byte, and one */
    double traffic;                                /* log of the bytes from DRAM over the compulsory ones */
    double occupancy;                              /* 0 to 1 */
    double waves;                                  /* log */
    double sectors;           /* log of those moved over those that would do, on hot lines */
    double conflicts;         /* log of bank conflicts a request, and one, on hot lines */
    double lanes;             /* active, 0 to 1, on hot lines */
    double block, threads;    /* log of those of the largest launch */
    double work;              /* log of the compulsory bytes a thread of it */
    double launches;          /* log */
    double registers, shared; /* log; of shared bytes, and one */
    double element;           /* log of the bytes of a buffer's element */
    const char
        *forms; /* the transforms that apply, "vectorise|split-row": accesses, loops, launches of a form */
};

void agent_features(const struct agent_version *v, const struct agent_profile *p, struct agent_features *f);
json_t *agent_features_to_json(const struct agent_features *f);
void agent_features_from_json(const json_t *o, struct arena *a, struct agent_features *f);
/* 1 for versions alike, near 0 for those with nothing in common. */
double agent_features_nearness(const struct agent_features *x, const struct agent_features *y);

struct agent_remembered {                  /* one trial of an earlier run */
    const struct agent_features *features; /* of the version that the steps were tried on */
    double trust;                          /* 0 to 1: was it this device? */
    const struct agent_step *steps;
    size_t n_steps;
    bool passed;
    double gain; /* over that version; NAN unless timed */
};

struct agent_memory {
    const struct agent_remembered *trials;
    size_t n;
};

struct agent_strategy {
    const char *name, *reason, *plan;
    const struct agent_step *steps;
    size_t n_steps;
    double expected_gain, confidence;
};

struct agent_plan_input {
    const struct agent_version *version; /* the parent */
    int parent;                          /* its id */
    const struct agent_step *lineage;    /* the steps that made it from the original */
    size_t n_lineage;
    const struct agent_diagnosis *diagnosis;
    const struct agent_attempt *history;
    size_t n_history;
    size_t max_strategies;
    unsigned registers;                /* of a thread of the parent; 0: not known */
    const struct agent_memory *memory; /* NULL: none */
    struct agent_features features;    /* of the parent, where there is one */
};

/* Most promising first; none when nothing is left to try. */
void agent_plan_rules(const struct agent_plan_input *in, struct arena *a,
                      const struct agent_strategy **strategies, size_t *n);

struct agent_file { /* of a coder */
    char *text;
    /* The transforms that took effect; before them AGENT_EDIT where the coder wrote the file itself. None where
     * it wrote all of it. */
    const struct agent_step *steps;
    size_t n_steps;
};
#define AGENT_EDIT "edit"

/* file->text: the parent's in, the candidate's out, formatted as its parent is; file->steps: those that took
 * effect. False with the reason when no step of the strategy applies. */
bool agent_code_rules(const struct task *t, const char *path, const struct agent_strategy *strategy,
                      const struct kernel_limits *limits, struct arena *a, struct agent_file *file,
                      struct err *why_not);

/* One step, which gets the setting that it chose and the text that it left; false with the reason, and the text
 * as it was, when it does not apply or leaves no kernel file of the task. */
bool agent_step_rules(struct agent_versions *all, struct agent_step *step, struct arena *a, char **text,
                      struct err *why_not);

/* ---- the numbers of a stack of steps, searched (template.c) ---- */

/* The steps from a file on, with what their transforms leave open as parameters. */
struct agent_template;
struct agent_template_of {
    const struct task *task;
    const char *path, *text; /* of the file that the steps begin with */
    const struct kernel_limits *limits;
    const struct agent_step *steps;
    size_t n_steps;
};
/* Files and steps are in the arena and outlive it; NULL: the steps leave nothing open. */
struct agent_template *agent_template_open(struct arena *a, const struct agent_template_of *of);
void agent_template_close(struct agent_template *t); /* NULL: nothing */
const struct tune_space *agent_template_space(const struct agent_template *t);
const int *agent_template_start(const struct agent_template *t); /* the point of the steps as they are */
/* As tune_oracle.legal: a step that has parameters takes effect with its setting; one without them may be left
 * out. */
bool agent_template_legal(const struct agent_template *t, const int *point, size_t n);
/* The file of a legal point, and the steps that took effect. */
void agent_template_file(struct agent_template *t, const int *point, struct agent_file *file);

struct agent_failure {              /* of a strategy carried out */
    const struct agent_step *steps; /* that took effect, each with the text it left */
    size_t n_steps;
    int line; /* of the last text, that the verdict names; 0: none */
};

/* The strategy without the step that wrote the line where it failed; where that is not known (why may be NULL),
 * without those that are known to fail alone, or without the last one. False when nothing is left to try. */
bool agent_repair_rules(const struct agent_strategy *failed, const struct agent_failure *why,
                        const struct agent_plan_input *in, struct arena *a, struct agent_strategy *repaired);

/* Of correct versions (versions[0]: the original) the two, and the one comparison of an integer argument or of
 * the product of two, with which a launcher that chooses between them is fastest: by the geometric mean, and at
 * no workload slower than the original. *base: the version whose launcher chooses; the strategy is one step for
 * it. False when none is above `least` (a geometric mean of speed-ups), which also is so where one version is
 * the fastest everywhere. */
bool agent_dispatch_rules(const struct task *t, const struct agent_version_of *versions, size_t n, double least,
                          struct arena *a, struct agent_strategy *s, size_t *base);
bool agent_is_dispatch(const struct agent_step *step);
/* Carries such a step out on *text, a file of that path. */
bool agent_dispatch(const struct task *t, const char *path, const struct agent_step *step, struct arena *a,
                    char **text, struct err *why_not);

/* "vectorise 16 + split_rows" */
char *agent_steps_text(struct arena *a, const struct agent_step *steps, size_t n);

/* ---- backends that are models: a prompt out, a reply read. Pure functions: whoever runs the loop makes the
 * call, so that it can be stored, counted, replayed and abandoned. docs/models.md has what each role is given
 * and must return. A reply is read leniently (prose around it, fences, trailing commas) and checked strictly;
 * the complaint of a failed check is what the model is told in the one re-ask. ---- */

struct agent_prompt {
    const char *role, *system;
    const struct llm_message *messages;
    size_t n_messages;
};

struct agent_lesson { /* what became of an attempt, as a conclusion */
    int id;
    const char *name, *what; /* the strategy */
    const char *verdict, *words;
    const char *by_workload; /* its speed-ups over the original, in the task's order; NULL: not told */
    double gain, score;      /* over its parent, over the original; NAN unless timed */
};

struct agent_brief { /* what everybody gets */
    const struct task *task;
    const struct kernel_limits *limits;
    const char *device, *basis;             /* "NVIDIA H200", "measured" or "modelled" */
    const struct agent_workload *workloads; /* of the parent */
    size_t n_workloads;
    const struct agent_workload *original; /* of the original: what the system prompt quotes, the same all run
                                            * long; NULL: workloads */
    size_t n_original;
    const struct trial_peaks *peaks;     /* of the device; NULL: not told */
    const char *parent_text;             /* the file to improve */
    const char *last_text;               /* coder: its own last file, which a patch may be of; NULL: none */
    const struct agent_version *version; /* the same, opened; NULL for the tester */
    const char *last_lines; /* one agent: of its last file, around the line that was refused; NULL */
    double parent_score;    /* over the original */
    bool times_alone;       /* nothing of a profile is told, profile and diagnosis are NULL */
    const struct agent_profile *profile;
    const struct agent_diagnosis *diagnosis; /* of the parent; NULL for the tester */
    const struct agent_lesson *lessons;      /* newest last; trimmed by the prompt */
    size_t n_lessons;
    size_t max_strategies;
    const char *suite_text; /* what the rules' suite holds; for the tester */
    int attempt;            /* single: its last file's id among the lessons; 0: the first turn */
};

void agent_prompt_tester(const struct agent_brief *b, struct arena *a, struct agent_prompt *p);
void agent_prompt_profiler(const struct agent_brief *b, struct arena *a, struct agent_prompt *p);
void agent_prompt_planner(const struct agent_brief *b, struct arena *a, struct agent_prompt *p);
void agent_prompt_coder(const struct agent_brief *b, const struct agent_strategy *s, struct arena *a,
                        struct agent_prompt *p);
/* `single`: one agent does everything in one conversation; the history is its messages. */
void agent_prompt_single(const struct agent_brief *b, const struct llm_message *before, size_t n_before,
                         struct arena *a, struct agent_prompt *p);
/* The conversation goes on: the last reply, then what is wrong with it. failed: the file was read, but the
 * compiler or the judge refused it (verdict and words); else the reply itself could not be used (complaint). */
void agent_prompt_again(const struct agent_prompt *before, const char *reply, const char *verdict,
                        const char *words, struct arena *a, struct agent_prompt *p);

/* False with the complaint. Only the tester's own cases are in s, to be judged beside the rules'; what lies
 * outside the task's domain or costs too much is dropped and counted in *dropped. */
bool agent_read_tester(const char *reply, const struct task *t, struct arena *a, struct agent_suite *s,
                       size_t *dropped, struct err *complaint);
bool agent_read_profiler(const char *reply, const struct agent_brief *b, struct arena *a,
                         struct agent_diagnosis *d, struct err *complaint);
/* True with none: the planner says that nothing is worth another try. */
bool agent_read_planner(const char *reply, const struct agent_brief *b, struct arena *a,
                        const struct agent_strategy **strategies, size_t *n, struct err *complaint);
/* The file of the reply's fenced block: whole, or a patch or single functions, merged into last_text or
 * parent_text; built-in transforms it names (`// astra: transform NAME [SETTING]` as the file's first lines)
 * are carried out on it. The file must open and match the task. */
bool agent_read_coder(const char *reply, const struct agent_brief *b, struct arena *a, struct agent_file *file,
                      struct err *complaint);
/* Is the reply of the one agent no file, and its last word DONE? Then nothing is worth another try. */
bool agent_says_done(const char *reply);

/* ---- text of others, for whoever hands it to a model (prompt_text.c) ---- */

char *text_line(struct arena *a, const char *s, size_t max); /* one harmless line of it, at most max bytes */
/* "[data: what]", each line after "| ", "[end of data]": nothing in it can end it. Head and tail stay. */
char *text_quote(struct arena *a, const char *what, const char *s, size_t max_lines);
char *text_code(struct arena *a, const char *s, bool numbered); /* a fenced block */
/* The line of a file with two before and behind it, numbered; "" for line 0 or one that it does not have. */
char *text_around(struct arena *a, const char *file, int line);
const char *text_verdict(struct arena *a, const char *verdict); /* what it means, for whoever mends the file */
const char *part_of_hopper(void); /* what share/prompts/contract.md says of a device of sm_90 alone */

#endif
