/* Between these files: the tools, the copies they work on, and the processes that do the work. */
#ifndef MCP_INTERNAL_H
#define MCP_INTERNAL_H

#include <poll.h>

#include "agent/agent.h"
#include "mcp.h"

/* ---- limits ---- */

enum {
    MAX_CALLS = 32,        /* under way or waiting for their turn */
    MAX_WORKING = 4,       /* of these, at work */
    MAX_RUNS = 2,          /* runs at once */
    MAX_WAIT_S = 50,       /* of optimize_wait */
    MAX_CALL_S = 900,      /* of any other call; then it is ended */
    MAX_FILE = 4 << 20,    /* bytes of a file that is read */
    MAX_NAMED = 256,       /* files that a task names */
    MAX_TASK = 64 << 20,   /* bytes of them together */
    MAX_TEXT = 1 << 20,    /* bytes of a version given as text */
    MAX_OUTPUT = 16 << 20, /* bytes that a process of ours may print */
    MAX_RUN_MB = 1024,     /* of a run's folder */
    MAX_RUNS_MB = 8192,    /* of all runs together: none begins above it */
    MAX_ROOTS = 16,
    MAX_SHOWN = 96 << 10, /* bytes of a source or patch in an answer */
};

/* ---- the tools (tools.c) ---- */

enum arg_kind {
    ARG_TASK,
    ARG_FILE,
    ARG_FILES,
    ARG_TEXT,
    ARG_WHOLE,
    ARG_FLAG,
    ARG_DEVICE,
    ARG_RUN,
    ARG_VERDICT
};

struct tool_arg {
    const char *name;
    enum arg_kind kind;
    bool required;
    int64_t low, high;  /* of ARG_WHOLE */
    const char *option; /* of the verb; NULL: it is used otherwise */
    const char *help;
};

typedef VEC(const char *) word_list;

struct call;
struct server;

struct tool {
    const char *name, *title, *about;
    const char *verb;  /* that a call of it runs; NULL: begin answers alone */
    const char *fixed; /* an option that is said first, so that an argument may say it anew; NULL: none */
    bool changes;      /* makes or ends something; the others only read */
    struct tool_arg args[12];
    void (*begin)(struct server *s, struct call *c); /* of a tool without a verb */
    json_t *(*answer)(struct call *c,
                      const json_t *found); /* what the verb printed; the text goes to c->text */
};

extern const struct tool tools[];
extern const size_t n_tools;

const struct tool *tool_find(const char *name);
json_t *tool_list(void); /* as tools/list answers */
/* Are these the tool's arguments? */
bool tool_check(const struct tool *t, const json_t *arguments, struct err *err);
/* The command line of a verb, up to the words behind `--`. */
void tool_words(const struct call *c, const char *verb, word_list *argv);

/* ---- the folders that may be read, and copies of what is in them (copy.c) ---- */

struct roots {
    struct root {
        const char *given, *real; /* absolute; as it was named, and without links */
        int fd;                   /* O_PATH */
    } list[MAX_ROOTS];
    size_t n;
};

bool roots_open(struct roots *r, const struct mcp_options *o, struct arena *a, struct err *err);
void roots_close(struct roots *r);

/* A task or a version is copied into a folder before anything looks at it, at its place below its root: what is
 * judged is what was read, and nobody can exchange it meanwhile. *at is its name there. */
bool copy_task(const struct roots *r, struct arena *a, const char *path, const char *to, const char **at,
               struct err *err);
bool copy_file(const struct roots *r, struct arena *a, const char *path, const char *to, const char **at,
               struct err *err);

/* ---- a process of ours (child.c) ---- */

struct child {
    pid_t pid; /* 0: none */
    int out, err;
    struct str found;  /* what it printed */
    struct str events; /* of stderr, whose last line is not whole yet */
    struct str said;   /* other lines of stderr */
    double started_s;
    bool too_loud;
};

/* In `folder`; argv as of PROC_SELF. */
bool child_start(struct child *c, const char *folder, const char *const *argv, struct err *err);
/* Takes what there is. Gives each event it told, until NULL; the caller drops it. */
void child_read(struct child *c);
json_t *child_event(struct child *c);
bool child_ended(struct child *c, int *status); /* as waitpid has it; once true, c is done */
/* What else it said on stderr, quoted as data; without the path of the folder that it worked in. */
const char *child_said(const struct child *c, struct arena *a, const char *folder);
void child_kill(struct child *c);
void child_free(struct child *c);                         /* kills it where it still lives */
void child_poll(const struct child *c, struct pollfd *p); /* two of them */

/* What an event tells, in one harmless line; NULL: nothing that is worth a word. */
const char *event_words(struct arena *a, const json_t *event);

/* ---- a run (run.c) ---- */

struct run {
    struct arena *arena;
    const char *name, *folder;
    struct child child;
    bool live, stopping, too_big;
    int status; /* as waitpid has it */
    double ended_s, looked_s;
    int64_t round, of, candidates, correct;
    const char *recent[8]; /* newest last; malloc */
    size_t n_recent;
    json_t *best; /* the event; NULL: none yet */
};

/* ---- a call (server.c) ---- */

struct call {
    struct arena *arena;
    const struct tool *tool;
    json_t *id, *token, *arguments;
    const char *revision; /* that the answer is written for */
    const char *scratch;  /* its folder; NULL: none */
    const char **argv;    /* of a verb that waits for its turn or is at work */
    struct child child;
    struct run *run; /* that it waits for */
    double until_s;  /* until when */
    int64_t told;    /* progress */
    struct str text; /* of the answer, for people and models */
    bool done;
};

struct server {
    struct arena *arena;
    struct roots roots;
    const char *runs, *scratch;
    const char *revision; /* agreed on in a handshake; NULL: none yet */
    VEC(struct call *) calls;
    VEC(struct run *) running; /* and those that have ended */
    bool broken;               /* stdout */
};

/* The answer to a call, which is done then. structured is taken. */
void call_answer(struct server *s, struct call *c, json_t *structured);
/* What went wrong, for the model to see; in words that begin with what to do about it where that is known. */
void call_fail(struct server *s, struct call *c, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Progress, where somebody asked for it. */
void call_tell(struct server *s, struct call *c, const char *words);

/* ---- runs (run.c) ---- */

void mcp_run_begin(struct server *s, struct call *c);  /* optimize_start */
void mcp_run_wait(struct server *s, struct call *c);   /* optimize_wait */
void mcp_run_status(struct server *s, struct call *c); /* optimize_status */
void mcp_run_cancel(struct server *s, struct call *c); /* optimize_cancel */
void mcp_run_result(struct server *s, struct call *c); /* optimize_result */
void mcp_run_step(struct server *s, struct run *r);    /* what it told since, and whether it has ended */
void mcp_run_stop(struct run *r);                      /* as Ctrl-C does */
void mcp_run_free(struct run *r);

/* ---- answers (answer.c) ---- */

json_t *answer_check(struct call *c, const json_t *found);
json_t *answer_bench(struct call *c, const json_t *found);
json_t *answer_profile(struct call *c, const json_t *found);
json_t *answer_sanitize(struct call *c, const json_t *found);
json_t *answer_result(struct call *c, const struct run *r, const json_t *result, const char *source,
                      const char *diff);
void explain_begin(struct server *s, struct call *c);

#endif
