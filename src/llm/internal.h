/* Between the files of llm. A call is tried one or more times; a try is one exchange over HTTP (http.c), one
 * child process (command.c) or one look into a recording (replay.c). What a try brings is an `answer`, and the
 * verdict on it says whether another try follows: all of that is llm.c's. Over HTTP the bytes go through a
 * `reader`, which knows no sockets: stream or whole, they end up in the same answer.
 */
#ifndef LLM_INTERNAL_H
#define LLM_INTERNAL_H

#include "llm/llm.h"

enum { REPLY_TOKENS = 16384 };             /* of one reply, where a limit must be said and nobody said one */
#define REPLY_MAX_BYTES ((size_t)16 << 20) /* of one reply, unpacked */

/* ---- text.c ---- */

/* s with everything that is not UTF-8 (and every NUL) as U+FFFD, added to out. */
void text_add_utf8(struct str *out, const char *s, size_t n);
/* Every `secret` in s becomes "[key]". Nothing when it is NULL or shorter than 4 bytes. */
void text_redact(struct str *s, const char *secret);
/* What others said, fit for one line of a terminal: UTF-8 without control characters. */
void text_tidy(struct str *s);
/* The unified difference of two texts, at most max_lines of it. */
void text_diff(struct str *out, const char *name_a, const char *a, const char *name_b, const char *b,
               size_t max_lines);
/* As json_parse, but lenient with what servers send: broken UTF-8, lone surrogates, doubled keys. */
json_t *text_parse_json(const char *s, size_t n);
/* "a, b, c": at most max of them, then how many more. */
void text_add_list(struct str *out, const char *const *names, size_t n, size_t max);

/* ---- sse.c: server-sent events ---- */

struct sse {
    struct str line, event, data;
    bool has_data, after_cr, begun;
};

/* Called with each event; event is "" when it has no name. False stops the feeding. */
typedef bool sse_take(void *context, const char *event, const char *data, size_t len);

bool sse_feed(struct sse *s, const char *bytes, size_t n, sse_take *take, void *context);
bool sse_end(struct sse *s, sse_take *take, void *context); /* an event without its last empty line counts */
void sse_free(struct sse *s);

/* ---- what a try brings ---- */

enum verdict {
    TRY_DONE,      /* the answer stands: done, cut or refused */
    TRY_CHANGED,   /* at once, without the parameter that was refused */
    TRY_AGAIN,     /* after a pause, as often as allowed */
    TRY_ONCE_MORE, /* one more time: it may be luck, and may be paid for */
    TRY_NO_MORE,   /* this call fails; others need not */
    TRY_FATAL,     /* every call would fail so */
    TRY_NO_MODEL,  /* as fatal, after the server was asked which models it has */
};

struct answer {
    struct str text, words, model;
    struct str tool;      /* names of tools called that nobody offered */
    size_t thought_bytes; /* of reasoning that came as text */
    struct llm_usage usage;
    enum llm_end end;
    bool said;     /* the first of its text or reasoning is here */
    bool ended;    /* it says why it ended */
    bool choice;   /* there is a message at all */
    bool finished; /* nothing may follow: the stream's last event was seen */
    bool failed;   /* an error in place of the answer: words, and `again` says what to do */
    enum verdict again;
};

void answer_free(struct answer *a);
void answer_fail(struct answer *a, enum verdict again, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* An answer read to its end becomes a verdict, with words unless it is done. */
enum verdict answer_judge(struct answer *a);

/* ---- wires: protocols over HTTP ---- */

/* Parameters a server may refuse by name; the request then goes out without them. */
enum {
    PARAM_STREAM = 1 << 0,
    PARAM_STREAM_OPTIONS = 1 << 1,
    PARAM_EFFORT = 1 << 2,
    PARAM_THINKING = 1 << 3,
    PARAM_TEMPERATURE = 1 << 4,
    PARAM_MAX_TOKENS = 1 << 5,
    PARAM_MAX_COMPLETION = 1 << 6,
    PARAM_CACHE = 1 << 7,
};

struct param {
    const char *name; /* as a server names it in its refusal */
    unsigned bit;
};

struct wire {
    const char *base_url, *path; /* the provider's own address; the path behind any address */
    const char *version;         /* what stands between them where users are used to leave it out; "" */
    const char *key_header;      /* what stands before the key: "Authorization: Bearer " */
    const char *const *headers;
    const struct param *params; /* ends with a NULL name */
    /* The request's body; *sent gets the bits of the parameters that are in it. */
    json_t *(*body)(const struct llm_config *c, const struct llm_request *q, unsigned dropped, int max_output,
                    unsigned *sent);
    void (*event)(struct answer *a, const char *event, const json_t *o);
    void (*whole)(struct answer *a, const json_t *o);
};

extern const struct wire wire_openai, wire_anthropic;

/* error.type or error.code of any of the forms in use, as it is worth another try or not. */
enum verdict wire_error_verdict(const char *type, const char *code);
/* The error's message, type, code and param out of a body in one of the forms in use; "" where unknown. */
struct wire_error {
    const char *message, *type, *code, *param;
};
void wire_error_read(const json_t *o, struct wire_error *e);

/* ---- reader.c: the bytes of a reply to an answer ---- */

struct reader {
    const struct wire *wire;
    enum { READER_UNKNOWN, READER_STREAM, READER_WHOLE } kind;
    struct sse sse;
    struct str body;
    size_t bytes;
    bool too_big, html;
    struct answer answer;
};

void reader_start(struct reader *r, const struct wire *w, const char *content_type);
bool reader_feed(struct reader *r, const char *bytes, size_t n); /* false: enough, stop the transfer */
void reader_end(struct reader *r, bool whole); /* whole: the transfer came to its proper end */
void reader_free(struct reader *r);

/* ---- http.c ---- */

struct http; /* connections, and the exchanges under way */
struct http_exchange;

enum http_end {
    HTTP_RUNNING,
    HTTP_COMPLETE,    /* a whole response, whatever its status */
    HTTP_UNREACHABLE, /* no such host, refused, no route */
    HTTP_UNTRUSTED,   /* TLS: certificate or handshake */
    HTTP_BROKEN,      /* cut off; connect timed out */
};

struct http_request {
    const char *url, *body; /* body NULL: GET */
    size_t body_len;
    const char *const *headers;
    size_t n_headers;
    double connect_s;
    const char *ca_file, *proxy;
    void *context;
    void (*data)(void *context, const char *bytes, size_t n);
};

struct http_response {
    enum http_end end;
    long status;
    char content_type[128], location[512];
    double retry_after_s; /* NAN: not said */
    double last_byte_s;   /* time_s() of the newest byte, or of the start */
    char words[256];
};

bool http_open(struct http **out, struct err *err); /* false: libcurl is missing */
void http_close(struct http *h);                    /* takes NULL; all exchanges are stopped before */
struct http_exchange *http_start(struct http *h, const struct http_request *q);
const struct http_response *http_look(const struct http_exchange *x);
void http_stop(struct http_exchange *x);         /* takes NULL; frees it */
long http_status(const struct http_exchange *x); /* as soon as the head is there; 0 before */
/* Moves all exchanges on, for at most wait_s or until one has news. False: a signal came. */
bool http_wait(struct http *h, double wait_s);
/* "8.5.0, OpenSSL..., HTTP/2" or why there is none. */
bool http_version(struct str *text);
double http_date_seconds(const char *text); /* Retry-After: seconds or a date; NAN when neither */

/* ---- key.c ---- */

struct provider;
/* The key for this configuration: *key NULL when none is needed. Free it with key_free. */
bool key_find(const struct llm_config *c, const struct provider *p, char **key, struct err *err);
void key_free(char *key); /* takes NULL; overwrites it */
bool url_is_loopback(const char *url);
bool url_host(const char *url, char *host, size_t size); /* "host:port", without user and path */

/* ---- recording.c, replay.c ---- */

/* DIR/LABEL.json; see docs/models.md. */
char *record_path(struct arena *a, const char *dir, const struct llm_request *q);
bool record_write(const struct llm_config *c, const struct llm_request *q, const struct llm_reply *r,
                  const char *note, struct err *err);
struct recording {
    const char *role, *label, *note, *system; /* NULL: not in it */
    struct llm_message *messages;
    size_t n_messages;
    bool has_messages;
    struct llm_reply reply;
};
bool record_parse(const char *text, size_t n, const char *name, struct arena *a, struct recording *r,
                  struct err *err);

/* ---- calls and providers ---- */

struct call {
    struct llm *llm;
    struct arena *arena; /* the request's copy */
    int id;
    struct llm_request q;
    enum { CALL_WAITING, CALL_RUNNING, CALL_LISTING, CALL_OVER } state;
    double start_s, due_s;   /* of the call; of its next try */
    double try_s, first_s;   /* start of this try, its first text; 0 until then */
    int attempts, once_more; /* tries so far; those that are allowed once */
    int pauses;              /* with back-off */
    struct http_exchange *x; /* HTTP: the exchange, what reads it */
    struct reader reader;
    unsigned sent;
    bool full;                /* the reader wants no more */
    struct exec_child *child; /* exec */
    struct answer answer;     /* of the newest try */
    struct llm_usage used;    /* by all tries */
    bool fatal;
    bool replayed, unfit; /* replay: `recording` has the reply, or `err` says how it does not fit */
    struct recording recording;
    struct err err;
    struct call *next;
};

struct provider {
    const char *name, *what;
    const struct wire *wire; /* NULL: not HTTP */
    const char *key_env;     /* where its key usually is; NULL: it has none */
    bool (*check)(const struct llm_config *c, const struct provider *p, struct err *err);
    bool (*open)(struct llm *l, struct err *err); /* may be NULL */
    void (*start)(struct call *c);                /* a try: running, or judged at once by call_judged */
    void (*look)(struct call *c);                 /* a running try that may have ended */
    void (*stop)(struct call *c);                 /* whatever the try holds */
    bool (*wait)(struct llm *l, double wait_s);   /* false: a signal came */
};

struct llm {
    struct llm_config c; /* with the defaults filled in; texts in the arena */
    const struct provider *provider;
    struct arena *arena;
    struct http *http;
    char *key;
    char url[1024], shown[1024], host[256]; /* shown: url without its query */
    bool reached;                           /* some answer came from there */
    unsigned dropped;                       /* parameters this server refused */
    int max_output;                         /* what the server allows, once it said so; 0 */
    struct call *calls;                     /* oldest first */
    size_t n_calls;
    struct rng rng;
};

extern const struct provider provider_openai, provider_anthropic, provider_exec, provider_replay;

/* The newest try ended so; its answer is in c->answer. retry_after_s NAN: the server did not say. */
void call_judged(struct call *c, enum verdict v, double retry_after_s);
/* Why the running try is over time, NULL when it is not. said: its text has begun; bytes_s: its last sign of
 * life. */
const char *call_over_time(struct call *c, bool said, double bytes_s);

/* web.c: how both wires go over HTTP */
bool web_check(const struct llm_config *c, const struct provider *p, struct err *err);
bool web_open(struct llm *l, struct err *err);
void web_start(struct call *c);
void web_look(struct call *c);
void web_stop(struct call *c);
bool web_wait(struct llm *l, double wait_s);

double price_of(const char *model, const struct llm_usage *u); /* NAN: price or usage unknown */

const char *llm_end_name(enum llm_end e);
bool llm_end_find(const char *name, enum llm_end *e);

#endif
