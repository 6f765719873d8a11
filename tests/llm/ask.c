/* Calls made as a JSON file says, replies printed as JSON lines: what tests/llm/run.py looks at.
 *
 *   ask FILE [SECONDS]    {"config": {...}, "prices": FILE, "trace": FILE, "calls": [{role, label, system,
 * messages}]}
 *
 * SECONDS: an alarm rings after them, and the collecting ends there, as an interrupt would end it. */
#include "llm/llm.h"

#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t rang;

static void ring(int sig)
{
    (void)sig;
    rang = 1;
}

/* Of this program alone; getrusage would count what its parent was before it. */
static int64_t peak_kb(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    long kb = 0;

    while (f && fgets(line, sizeof(line), f) && sscanf(line, "VmHWM: %ld", &kb) != 1)
        ;
    if (f)
        fclose(f);
    return kb;
}

static struct llm_config config_of(const json_t *o)
{
    return (struct llm_config){
        .provider = json_text(o, "provider", NULL),
        .model = json_text(o, "model", NULL),
        .base_url = json_text(o, "base_url", NULL),
        .key_env = json_text(o, "key_env", NULL),
        .key_file = json_text(o, "key_file", NULL),
        .command = json_text(o, "command", NULL),
        .effort = json_text(o, "effort", NULL),
        .max_output_tokens = (int)json_int(o, "max_output_tokens", 0),
        .temperature = json_num(o, "temperature"),
        .connect_s = json_num(o, "connect_s"),
        .first_byte_s = json_num(o, "first_byte_s"),
        .silence_s = json_num(o, "silence_s"),
        .max_attempts = (int)json_int(o, "max_attempts", 0),
        .retry_s = json_num(o, "retry_s"),
        .ca_file = json_text(o, "ca_file", NULL),
        .proxy = json_text(o, "proxy", NULL),
        .record_dir = json_text(o, "record_dir", NULL),
        .replay_dir = json_text(o, "replay_dir", NULL),
        .allow_drift = json_flag(o, "allow_drift", false),
    };
}

static void print_line(struct arena *a, json_t *o)
{
    printf("%s\n", json_line(a, o));
    fflush(stdout);
    json_decref(o);
}

static void print_err(struct arena *a, int id, const struct err *err)
{
    json_t *o = json_object();

    json_put_int(o, "id", id);
    json_put_text(o, "error", err->text);
    json_put_text(o, "file", err->file[0] ? err->file : NULL);
    json_put_int(o, "kind", err->kind);
    print_line(a, o);
}

static bool submit_all(struct llm *l, const json_t *calls, struct arena *a, struct err *err)
{
    const json_t *c, *m;
    size_t i, k;

    json_array_foreach(calls, i, c)
    {
        const json_t *list = json_object_get(c, "messages");
        struct llm_message *messages = arena_array(a, struct llm_message, json_array_size(list) + 1);
        struct llm_request q = {json_text(c, "role", "planner"), json_text(c, "label", "planner-1"),
                                json_text(c, "system", "You are Astra's planner."), messages,
                                json_array_size(list)};
        json_array_foreach(list, k, m) messages[k] =
            (struct llm_message){str_eq(json_text(m, "from", "user"), "assistant"), json_text(m, "text", "")};
        if (!llm_submit(l, (int)i, &q, err))
            return false;
    }
    return true;
}

static void collect_all(struct llm *l, struct arena *a, struct llm_spend *spend)
{
    while (llm_busy(l) && !rang) {
        struct err err = {0};
        struct llm_reply r;
        json_t *o;
        int id;
        if (!llm_collect(l, 60, a, &id, &r, &err)) {
            print_err(a, id, &err);
            continue;
        }
        if (id < 0)
            continue;
        llm_spend_add(spend, &r);
        o = llm_reply_to_json(&r);
        json_put_int(o, "id", id);
        print_line(a, o);
    }
}

int main(int argc, char **argv)
{
    struct arena *a = arena_open();
    struct llm_spend spend = {0};
    struct err err = {0};
    struct llm *l = NULL;
    json_t *o = NULL, *end = json_object();
    struct llm_config c;
    char *text;
    size_t n;
    bool ok = argc >= 2 && fs_read(a, argv[1], &text, &n, &err) && (o = json_parse(text, n, argv[1], &err));

    if (argc > 2) {
        double s = atof(argv[2]);
        struct itimerval t = {.it_value = {(time_t)s, (suseconds_t)((s - floor(s)) * 1e6)}};
        sigaction(SIGALRM, &(struct sigaction){.sa_handler = ring}, NULL);
        setitimer(ITIMER_REAL, &t, NULL);
    }
    c = config_of(json_object_get(o, "config"));
    ok = ok && (!json_text(o, "trace", NULL) || trace_open(json_text(o, "trace", NULL), &err));
    ok = ok && (!json_text(o, "prices", NULL) || llm_prices_load(json_text(o, "prices", NULL), &err));
    ok = ok && llm_open(&l, &c, &err) && submit_all(l, json_object_get(o, "calls"), a, &err);
    if (!ok)
        print_err(a, -1, &err);
    else
        collect_all(l, a, &spend);
    json_put_flag(end, "end", true);
    json_put_int(end, "busy", l ? (int64_t)llm_busy(l) : 0);
    json_put_flag(end, "rang", rang);
    llm_close(l);
    trace_close();
    json_put_int(end, "peak_kb", peak_kb());
    json_put_int(end, "calls", spend.calls);
    json_put_int(end, "input", spend.input);
    json_put_int(end, "output", spend.output);
    json_put_num(end, "usd", spend.usd);
    print_line(a, end);
    json_decref(o);
    arena_close(a);
    return ok ? 0 : 1;
}
