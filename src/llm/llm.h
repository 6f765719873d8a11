/* llm: a chat model asked, whoever serves it. One request in, one whole reply out; several may be under way.
 * The wire (HTTP, streams, retries, keys) stays in this folder; docs/models.md says what each provider is sent.
 * Keys come from the environment or a file that nobody else can read, and leave this folder only in a request.
 */
#ifndef LLM_LLM_H
#define LLM_LLM_H

#include "base/base.h"

struct llm_config {       /* NULL, 0 or NAN: the provider's default */
    const char *provider; /* "openai", "anthropic", "exec", "replay" */
    const char *model, *base_url;
    const char *key_env, *key_file; /* where the key is; never the key itself */
    const char *command;            /* exec: run by the shell, the prompt on its stdin */
    const char *effort;             /* reasoning effort: "low", "medium", "high" */
    int max_output_tokens;
    double temperature;                        /* NAN: the default; 0 is 0 */
    double connect_s, first_byte_s, silence_s; /* 30, 900, 120 */
    int max_attempts;                          /* 6; with back-off, or as the server's Retry-After says */
    double retry_s;                            /* 1: the first pause, which doubles up to a minute */
    const char *ca_file, *proxy;
    const char *record_dir, *replay_dir; /* conversations written, and played */
    bool allow_drift;                    /* replay although the prompt differs */
};

/* Checks all that can be checked without a call: provider, model, address, key. An unknown provider is an error
 * that lists those there are. */
bool llm_config_check(const struct llm_config *c, struct err *err);
const char *const *llm_providers(size_t *n);

struct llm_message {
    bool assistant; /* else the user */
    const char *text;
};

struct llm_request {
    const char *role;   /* "tester", "planner", ...: names the conversation in recordings */
    const char *label;  /* of this call within the run, "planner-1", the same in every replay */
    const char *system; /* the same for all calls of a role: what a provider can cache */
    const struct llm_message *messages;
    size_t n_messages;
    int64_t output_most; /* tokens that the reply may have, where that is less than the configuration's limit;
                            0: no other limit. What comes behind it is cut (LLM_CUT) */
};

struct llm_usage {                            /* -1: not told */
    int64_t input, cached, reasoning, output; /* input counts the cached, output the reasoning */
    int64_t cache_written; /* of input: put into the provider's cache, at a price of its own */
};
#define LLM_USAGE_UNKNOWN ((struct llm_usage){-1, -1, -1, -1, -1})

enum llm_end {
    LLM_DONE,
    LLM_CUT,     /* its limit of output; the text is what came */
    LLM_REFUSED, /* by the model or its provider's filter */
    LLM_FAILED   /* no reply after all attempts; words say why */
};

struct llm_reply {
    enum llm_end end;
    const char *text;       /* valid UTF-8 */
    const char *words;      /* why it failed, for people; NULL when done */
    const char *model;      /* as the server names it */
    struct llm_usage usage; /* of all attempts */
    double usd;             /* NAN: no price known */
    double first_byte_s, wall_s;
    int attempts;
    bool fatal; /* the next call would fail as well: wrong key, unknown model, refused address */
};

struct llm; /* one model of one provider; calls under way */

bool llm_open(struct llm **out, const struct llm_config *c, struct err *err);
void llm_close(struct llm *l); /* abandons what is under way; takes NULL */
/* ids are the caller's, each under way once. Collect every few seconds while calls are under way: nobody else
 * watches over them. */
bool llm_submit(struct llm *l, int id, const struct llm_request *q, struct err *err);
size_t llm_busy(const struct llm *l);
/* Waits at most wait_s for one finished call. *id -1 when none came in time or a signal arrived. False only
 * on an I/O or system error that no reply can say, or a replay does not fit its recording (ERR_INPUT, with the
 * difference). */
bool llm_collect(struct llm *l, double wait_s, struct arena *a, int *id, struct llm_reply *r, struct err *err);

/* Of a call under way: text and reasoning that came so far, in tokens, estimated; 0 where nothing is streamed.
 */
int64_t llm_tokens_so_far(const struct llm *l, int id);

/* Tokens of a text, estimated without a model's tokeniser. */
int64_t llm_tokens(const char *text);

/* Prices in USD for a million tokens, from share/prices.yaml, or the user's own file; dated. */
struct llm_price {
    double input, cached, output;
    const char *date;
    double cache_written; /* as input where the file does not say */
};
bool llm_prices_load(const char *path, struct err *err);     /* before any llm_open; NULL: the built-in ones */
bool llm_price_find(const char *model, struct llm_price *p); /* false: unknown */

/* What calls have used so far: sums of what was told; what was not told is counted in `untold`. */
struct llm_spend {
    int64_t calls, failed, attempts, untold; /* untold: calls without usage */
    int64_t input, cached, reasoning, output;
    double usd; /* of the calls with a price */
    int64_t unpriced;
    double wall_s;
};
void llm_spend_add(struct llm_spend *s, const struct llm_reply *r);

/* For `astra doctor`: providers, whether their keys are there (never the key), libcurl, the date of the prices,
 * each with its cure; the same as JSON. */
json_t *llm_doctor(struct str *text);

json_t *llm_reply_to_json(const struct llm_reply *r);
bool llm_reply_from_json(const json_t *o, struct arena *a, struct llm_reply *r, struct err *err);

#endif
