/* The server: one thread and one poll over stdin and the processes at work. A call that takes long is a process
 * of this same program, so that its crash is an answer and not the end of the server. */
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const revisions[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
enum { STATELESS = 1 }; /* of these: how many have no handshake */

static volatile sig_atomic_t asked_to_end;

static void on_signal(int number)
{
    (void)number;
    asked_to_end = 1;
}

/* ---- what is sent ---- */

static void send_line(struct server *s, json_t *message)
{
    char *line = json_dumps(message, JSON_COMPACT);
    size_t n = line ? strlen(line) : 0, sent = 0;

    json_decref(message);
    if (!line)
        return;
    line[n++] = '\n'; /* in the place of its NUL */
    while (sent < n && !s->broken) {
        ssize_t k = write(1, line + sent, n - sent);
        if (k > 0)
            sent += (size_t)k;
        else if (k == 0 || errno != EINTR)
            s->broken = true;
    }
    free(line);
}

static json_t *server_info(void)
{
    return json_pack("{s:s, s:s, s:s}", "name", "astra", "title", "Astra: CUDA kernels judged and made faster",
                     "version", ASTRA_VERSION);
}

static bool is_stateless(const char *revision)
{
    return str_eq(revision, revisions[0]);
}

/* result is taken. The stateless revision says of each result whole what it is. */
static void send_result(struct server *s, const json_t *id, const char *revision, json_t *result)
{
    json_t *o = json_object();

    if (is_stateless(revision)) {
        json_put_text(result, "resultType", "complete");
        json_put(result, "_meta", json_pack("{s:o}", "io.modelcontextprotocol/serverInfo", server_info()));
    }
    json_put_text(o, "jsonrpc", "2.0");
    json_put(o, "id", json_deep_copy(id));
    json_put(o, "result", result);
    send_line(s, o);
}

static void send_content(struct server *s, struct call *c, json_t *structured, bool failed)
{
    json_t *o = json_object(), *content = json_array();
    bool old = str_in(c->revision, "2025-03-26|2024-11-05"); /* they know no structured content */

    json_array_append_new(content,
                          json_pack("{s:s, s:o}", "type", "text", "text", json_string(str_text(&c->text))));
    if (structured && old)
        json_array_append_new(content,
                              json_pack("{s:s, s:s}", "type", "text", "text", json_line(c->arena, structured)));
    json_put(o, "content", content);
    if (structured && !old)
        json_put(o, "structuredContent", json_incref(structured));
    json_put_flag(o, "isError", failed);
    json_decref(structured);
    send_result(s, c->id, c->revision, o);
    c->done = true;
}

void call_answer(struct server *s, struct call *c, json_t *structured)
{
    send_content(s, c, structured, false);
}

void call_fail(struct server *s, struct call *c, const char *fmt, ...)
{
    va_list ap;

    str_clear(&c->text);
    str_addf(&c->text, "%s did not work. ", c->tool->name);
    va_start(ap, fmt);
    str_vaddf(&c->text, fmt, ap);
    va_end(ap);
    send_content(s, c, NULL, true);
}

void call_tell(struct server *s, struct call *c, const char *words)
{
    json_t *params, *o;

    if (!c->token || c->done)
        return;
    params = json_object();
    json_put(params, "progressToken", json_deep_copy(c->token));
    json_put_int(params, "progress", ++c->told);
    json_put_text(params, "message", words);
    o = json_object();
    json_put_text(o, "jsonrpc", "2.0");
    json_put_text(o, "method", "notifications/progress");
    json_put(o, "params", params);
    send_line(s, o);
}

/* ---- calls ---- */

static void call_free(struct call *c)
{
    child_free(&c->child);
    if (c->scratch)
        fs_remove_tree(c->scratch);
    json_decref(c->id);
    json_decref(c->token);
    json_decref(c->arguments);
    arena_close(c->arena);
}

/* A verb's words: the task and the version, copied. */
static bool prepare(struct server *s, struct call *c, struct err *err)
{
    const char *file = json_text(c->arguments, "file", NULL), *text = json_text(c->arguments, "text", NULL),
               *at;
    char *scratch = arena_printf(c->arena, "%s/XXXXXX", s->scratch);
    word_list argv = {0};

    if (!mkdtemp(scratch))
        return err_world(err, "cannot make a folder in %s: %s", s->scratch, strerror(errno));
    c->scratch = scratch;
    tool_words(c, c->tool->verb, &argv);
    vec_add(c->arena, &argv, "--");
    if (!copy_task(&s->roots, c->arena, json_text(c->arguments, "task", ""), scratch, &at, err))
        return false;
    vec_add(c->arena, &argv, at);
    if (file && !copy_file(&s->roots, c->arena, file, scratch, &at, err))
        return false;
    if (text) {
        at = "version.cu";
        while (fs_exists(fs_join(c->arena, scratch, at)))
            at = arena_printf(c->arena, "new-%s", at);
        if (!fs_write_text(fs_join(c->arena, scratch, at), text, err))
            return false;
    }
    if (file || text)
        vec_add(c->arena, &argv, at);
    vec_add(c->arena, &argv, NULL);
    c->argv = argv.v;
    return true;
}

static void end_verb(struct server *s, struct call *c, int status)
{
    const char *said;
    json_t *found, *event, *answer;

    while ((event = child_event(&c->child)))
        json_decref(event);
    said = child_said(&c->child, c->arena, c->scratch);
    if (c->child.too_loud) {
        call_fail(s, c, "It printed more than %d MB and was ended.", MAX_OUTPUT >> 20);
    } else if (WIFSIGNALED(status)) {
        call_fail(s, c, "Its process ended by signal %d; nothing else is harmed.\n%s", WTERMSIG(status), said);
    } else if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 4) {
        call_fail(s, c, "%s\n%s",
                  WEXITSTATUS(status) == 2 ? "The task or the arguments are at fault; mend them and call again."
                                           : "The machine that judges is at fault, not the kernel.",
                  said);
    } else {
        found = json_parse(str_text(&c->child.found), c->child.found.len, "what it found", NULL);
        if (!found) {
            call_fail(s, c, "What it printed cannot be read.\n%s", said);
            return;
        }
        answer = c->tool->answer(c, found);
        json_decref(found);
        call_answer(s, c, answer);
    }
}

static void step_verb(struct server *s, struct call *c)
{
    struct arena *a = arena_open();
    json_t *event;
    int status = 0;
    bool ended;

    child_read(&c->child);
    while ((event = child_event(&c->child))) {
        const char *words = event_words(a, event);
        if (words)
            call_tell(s, c, words);
        json_decref(event);
    }
    arena_close(a);
    ended = child_ended(&c->child, &status);
    if (ended)
        end_verb(s, c, status);
    else if (time_s() - c->child.started_s > MAX_CALL_S)
        call_fail(s, c, "It took longer than %d s and was ended.", MAX_CALL_S);
}

static void step_calls(struct server *s)
{
    struct err err = {0};
    size_t working = 0, kept = 0;

    for (size_t i = 0; i < s->calls.n; i++) {
        struct call *c = s->calls.v[i];
        if (c->run)
            mcp_run_wait(s, c);
        else if (c->child.pid)
            step_verb(s, c);
        working += !c->done && c->child.pid;
    }
    for (size_t i = 0; i < s->calls.n; i++) {
        struct call *c = s->calls.v[i];
        if (!c->done && c->argv && !c->child.pid && working < MAX_WORKING) {
            working++;
            if (!child_start(&c->child, c->scratch, c->argv, &err))
                call_fail(s, c, "%s", err.text);
        }
        if (c->done)
            call_free(c);
        else
            s->calls.v[kept++] = c;
    }
    s->calls.n = kept;
}

/* ---- requests ---- */

static void begin_call(struct server *s, const struct mcp_message *m, const char *revision)
{
    const char *name = json_text(m->params, "name", NULL);
    const struct tool *t = name ? tool_find(name) : NULL;
    const json_t *arguments = json_object_get(m->params, "arguments");
    struct err err = {0};
    struct arena *a;
    struct call *c;

    if (!t) {
        send_line(s, mcp_error(m->id, MCP_BAD_PARAMS, NULL, "there is no tool %.60s; tools/list lists them",
                               name ? name : "without a name"));
        return;
    }
    if (arguments && !json_is_object(arguments)) {
        send_line(s, mcp_error(m->id, MCP_BAD_PARAMS, NULL, "params.arguments must be an object"));
        return;
    }
    a = arena_open();
    c = arena_new(a, struct call);
    *c = (struct call){.arena = a,
                       .tool = t,
                       .id = json_deep_copy(m->id),
                       .token = m->token ? json_deep_copy(m->token) : NULL,
                       .arguments = arguments ? json_deep_copy(arguments) : json_object(),
                       .revision = arena_strdup(a, revision),
                       .text = {.arena = a}};
    c->child.out = c->child.err = -1;
    if (s->calls.n >= MAX_CALLS)
        call_fail(s, c, "%d calls are under way; wait for their answers.", MAX_CALLS);
    else if (!tool_check(t, c->arguments, &err)) /* for the model to see, and to mend */
        call_fail(s, c, "%s", err.text);
    else if (t->begin)
        t->begin(s, c);
    else if (!prepare(s, c, &err))
        call_fail(s, c, "%s", err.text);
    if (c->done)
        call_free(c);
    else
        vec_push(&s->calls, c);
}

static void put_about(json_t *o)
{
    json_put(o, "capabilities", json_pack("{s:{}}", "tools"));
    json_put_text(o, "instructions", share_text("mcp/instructions.md"));
}

static void put_cache(json_t *o, const char *revision)
{
    if (!is_stateless(revision))
        return;
    json_put_int(o, "ttlMs", 3600 * 1000);
    json_put_text(o, "cacheScope", "public");
}

/* The handshake: the revision that the client asks for where it is one of a handshake, else the newest of
 * these. */
static void initialize(struct server *s, const struct mcp_message *m)
{
    const char *asked = json_text(m->params, "protocolVersion", NULL);
    json_t *o;

    if (!asked) {
        send_line(s, mcp_error(m->id, MCP_BAD_PARAMS, NULL, "initialize needs params.protocolVersion"));
        return;
    }
    s->revision = revisions[STATELESS];
    for (size_t i = STATELESS; i < ARRAY_LEN(revisions); i++)
        if (str_eq(asked, revisions[i]))
            s->revision = revisions[i];
    o = json_object();
    json_put_text(o, "protocolVersion", s->revision);
    json_put(o, "serverInfo", server_info());
    put_about(o);
    send_result(s, m->id, s->revision, o);
}

static void take_request(struct server *s, const struct mcp_message *m)
{
    const char *revision = m->revision ? m->revision : s->revision;
    json_t *o;

    if (m->revision && !is_stateless(m->revision)) {
        o = json_object();
        json_put(o, "supported", json_texts(revisions, ARRAY_LEN(revisions)));
        json_put_text(o, "requested", m->revision);
        send_line(s, mcp_error(m->id, MCP_NO_REVISION, o, "Unsupported protocol version"));
    } else if (str_eq(m->method, "ping")) {
        send_result(s, m->id, revision, json_object());
    } else if (str_eq(m->method, "initialize") && !m->revision) {
        initialize(s, m);
    } else if (!revision) {
        send_line(s,
                  mcp_error(m->id, MCP_NOT_A_REQUEST, NULL,
                            "send initialize first, or name revision %s in the request's _meta", revisions[0]));
    } else if (str_eq(m->method, "server/discover") && m->revision) {
        o = json_object();
        json_put(o, "supportedVersions", json_texts(revisions, ARRAY_LEN(revisions)));
        put_about(o);
        put_cache(o, revision);
        send_result(s, m->id, revision, o);
    } else if (str_eq(m->method, "tools/list")) {
        o = json_object();
        json_put(o, "tools", tool_list());
        put_cache(o, revision);
        send_result(s, m->id, revision, o);
    } else if (str_eq(m->method, "tools/call")) {
        begin_call(s, m, revision);
    } else {
        send_line(s, mcp_error(m->id, MCP_NO_METHOD, NULL, "there is no method %.60s here", m->method));
    }
}

/* A cancelled request gets no answer. A run goes on when nobody waits for it. */
static void take_notification(struct server *s, const struct mcp_message *m)
{
    const json_t *id = json_object_get(m->params, "requestId");

    if (!str_eq(m->method, "notifications/cancelled") || !id)
        return;
    for (size_t i = 0; i < s->calls.n; i++)
        if (json_equal(s->calls.v[i]->id, id))
            s->calls.v[i]->done = true;
}

static void take_line(struct server *s, const char *line, size_t len)
{
    struct mcp_message m;

    switch (mcp_message_read(line, len, &m)) {
    case MCP_REQUEST:
        take_request(s, &m);
        break;
    case MCP_NOTIFICATION:
        take_notification(s, &m);
        break;
    case MCP_BROKEN:
        send_line(s, m.answer);
        break;
    case MCP_NOTHING:
        break;
    }
    mcp_message_free(&m);
}

/* What stdin has now. False: it has ended. */
static bool take_input(struct server *s, struct mcp_lines *lines)
{
    char buf[65536];
    const char *line;
    size_t len;
    ssize_t n = read(0, buf, sizeof(buf));

    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    mcp_lines_add(lines, buf, (size_t)n);
    for (enum mcp_line got; (got = mcp_lines_next(lines, &line, &len)) != MCP_NO_LINE;) {
        if (got == MCP_LINE)
            take_line(s, line, len);
        else
            send_line(s, mcp_error(NULL, MCP_NOT_A_REQUEST, NULL,
                                   "a message may have %d bytes; this one is left out", MCP_LINE_BYTES));
    }
    return n > 0;
}

/* ---- beginning and end ---- */

static void wait_for_news(struct server *s, const sigset_t *unblocked, bool *input)
{
    VEC(struct pollfd) list = {0};
    struct timespec most = {0, 100 * 1000 * 1000}; /* time limits, and children that end without a word */
    bool busy = s->calls.n > 0;

    vec_push(&list, ((struct pollfd){0, POLLIN, 0}));
    for (size_t i = 0; i < s->calls.n + s->running.n; i++) {
        const struct child *c = i < s->calls.n ? &s->calls.v[i]->child : &s->running.v[i - s->calls.n]->child;
        struct pollfd two[2];
        child_poll(c, two);
        busy |= c->pid > 0;
        vec_push(&list, two[0]);
        vec_push(&list, two[1]);
    }
    *input = ppoll(list.v, list.n, busy ? &most : NULL, unblocked) > 0 && list.v[0].revents;
    vec_free(&list);
}

static void serve(struct server *s, const sigset_t *unblocked)
{
    struct mcp_lines lines = {0};
    bool open = true, input;

    while (open && !s->broken && !asked_to_end) {
        wait_for_news(s, unblocked, &input);
        if (input)
            open = take_input(s, &lines);
        for (size_t i = 0; i < s->running.n; i++)
            mcp_run_step(s, s->running.v[i]);
        step_calls(s);
    }
    mcp_lines_free(&lines);
}

/* Runs are stopped as Ctrl-C stops them. Who does not come to an end soon is killed: the store is whole at
 * every moment, and `resume` goes on from either. */
static void stop_all(struct server *s)
{
    double until_s = time_s() + 1.2;
    bool live = true;

    for (size_t i = 0; i < s->calls.n; i++)
        call_free(s->calls.v[i]);
    vec_free(&s->calls);
    s->broken = true; /* nobody is told any more */
    for (size_t i = 0; i < s->running.n; i++)
        if (!s->running.v[i]->stopping)
            mcp_run_stop(s->running.v[i]);
    while (live && time_s() < until_s) {
        live = false;
        for (size_t i = 0; i < s->running.n; i++) {
            mcp_run_step(s, s->running.v[i]);
            live |= s->running.v[i]->live;
        }
        usleep(10000);
    }
    for (size_t i = 0; i < s->running.n; i++)
        mcp_run_free(s->running.v[i]);
    vec_free(&s->running);
}

/* Folders of calls that an earlier server of this machine was killed over; the home may be that of many. */
static void clean_scratch(struct arena *a, const char *calls, const char *host)
{
    DIR *d = opendir(calls);

    for (struct dirent *e; d && (e = readdir(d));) {
        const char *number = str_starts(e->d_name, host) ? e->d_name + strlen(host) : "";
        long pid = number[0] == '-' ? strtol(number + 1, NULL, 10) : 0;
        if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
            fs_remove_tree(fs_join(a, calls, e->d_name));
    }
    if (d)
        closedir(d);
}

static bool make_folders(struct server *s, const struct mcp_options *o, struct err *err)
{
    const char *calls, *runs = fs_absolute(s->arena, o->runs);
    char real[PATH_MAX] /* as a process that works there knows it */, host[HOST_NAME_MAX + 1] = "";

    if (!fs_mkdirs(runs, err))
        return false;
    s->runs = arena_strdup(s->arena, realpath(runs, real) ? real : runs);
    calls = fs_join(s->arena, s->runs, ".calls");
    gethostname(host, HOST_NAME_MAX);
    s->scratch = arena_printf(s->arena, "%s/%s-%ld", calls, host, (long)getpid());
    clean_scratch(s->arena, calls, host);
    for (size_t i = 0; i < s->roots.n; i++)
        if (fs_below(s->runs, s->roots.list[i].real))
            fprintf(
                stderr,
                "note: runs are kept in %s, below --root %s: who may write there may change what they found; "
                "--runs names another folder\n",
                s->runs, s->roots.list[i].real);
    return fs_mkdirs(s->scratch, err);
}

bool mcp_serve(const struct mcp_options *o, struct err *err)
{
    struct server s = {.arena = arena_open()};
    struct sigaction end = {.sa_handler = on_signal};
    sigset_t blocked, before;
    bool ok = roots_open(&s.roots, o, s.arena, err) && make_folders(&s, o, err);

    if (ok) {
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGTERM);
        sigaddset(&blocked, SIGINT);
        sigaddset(&blocked, SIGHUP);
        sigprocmask(SIG_BLOCK, &blocked, &before);
        sigaction(SIGTERM, &end, NULL);
        sigaction(SIGINT, &end, NULL);
        sigaction(SIGHUP, &end, NULL);
        serve(&s, &before);
        ok = !s.broken || err_world(err, "cannot write to stdout: %s", strerror(errno));
        stop_all(&s);
        fs_remove_tree(s.scratch);
    }
    roots_close(&s.roots);
    arena_close(s.arena);
    return ok;
}
