/* The other end of a fleet's command: a worker of this machine for a pool elsewhere. It keeps the worker's
 * limits, kills it, and cleans up when its own input ends; contents come once and are kept by their hash.
 *
 * Whoever starts it may have it judge kernels of theirs, as with any account on this machine; the worker that
 * does is sandboxed as any other. */
#include "process.h"
#include "protocol.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

enum { MOST_FILES = 256, MOST_BYTES = 64 << 20, POLL_MS = 100 };

struct node_state {
    struct arena *arena; /* of an open */
    struct proc up;      /* the pool's end: our stdin */
    FILE *out;
    const char *self;     /* what workers are called; found before the file can be replaced */
    char *cache, *folder; /* folder: of this process, below the cache; its lock is held */
    int lock;
    json_t *open;     /* asked for, its contents not all here yet; NULL: none */
    size_t missing;   /* of them */
    size_t got_bytes; /* that came with contents */
    struct process worker;
    struct pool_limits limits;
    bool running, answering; /* the worker is there, and has a request */
    bool judging, second;    /* of that request */
    double said_s;
};

static volatile sig_atomic_t ended;

static void end_asked(int signal)
{
    (void)signal;
    ended = 1;
}

static bool say(struct node_state *n, json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    bool sent = fprintf(n->out, "%s\n", text) > 0 && fflush(n->out) == 0;

    free(text);
    json_decref(line);
    n->said_s = time_s();
    return sent;
}

static json_t *one(const char *key, json_t *value)
{
    json_t *o = json_object();

    json_put(o, key, value);
    return o;
}

static bool say_error(struct node_state *n, const struct err *err)
{
    return say(n, one("error", pool_error_to_json(err)));
}

/* ---- the cache ---- */

static int locked(const char *path, int how)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd >= 0 && flock(fd, how) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* What a node that was killed left: a folder whose lock nobody holds. */
static void sweep(struct arena *a, const char *runs)
{
    DIR *d = opendir(runs);

    for (const struct dirent *e; d && (e = readdir(d));) {
        char *folder = fs_join(a, runs, e->d_name);
        int fd = e->d_name[0] == '.' ? -1 : locked(fs_join(a, folder, "lock"), LOCK_EX | LOCK_NB);
        if (fd < 0)
            continue;
        fs_remove_tree(folder);
        close(fd);
    }
    if (d)
        closedir(d);
}

static bool open_folder(struct node_state *n, struct arena *a, struct err *err)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *runs;
    int all;

    n->self = fs_self(a);
    home = home && *home == '/' ? home : "/tmp";
    base = base && *base == '/' ? base : fs_join(a, home, ".cache");
    n->cache = fs_join(a, base, "astra/node");
    runs = fs_join(a, n->cache, "runs");
    if (!fs_mkdirs(runs, err) || !fs_mkdirs(fs_join(a, n->cache, "contents"), err))
        return false;
    all = locked(fs_join(a, n->cache, "lock"), LOCK_EX); /* no other sweeps before ours has its lock */
    sweep(a, runs);
    n->folder = arena_printf(a, "%s/XXXXXX", runs);
    if (mkdtemp(n->folder))
        n->lock = locked(fs_join(a, n->folder, "lock"), LOCK_EX);
    if (all >= 0)
        close(all);
    return n->lock >= 0 || err_world(err, "cannot make and lock a folder in %s: %s", runs, strerror(errno));
}

static bool is_hash(const char *hash)
{
    return strlen(hash) == 64 && strspn(hash, "0123456789abcdef") == 64;
}

/* Bytes of the cache are checked when they are read, too: a full disk or a stranger may have changed them. */
static bool cached(const struct node_state *n, struct arena *a, const char *hash, char **bytes, size_t *len)
{
    const char *path = arena_printf(a, "%s/contents/%s", n->cache, hash);
    char hex[65];

    if (!fs_exists(path) || !fs_read(a, path, bytes, len, NULL))
        return false;
    hash_sha256_hex(*bytes, *len, hex);
    return str_eq(hex, hash);
}

static bool take_content(struct node_state *n, const json_t *o, struct err *err)
{
    const char *hash = json_text(o, "hash", ""), *text = json_text(o, "hex", "");
    size_t len = strlen(text) / 2;
    char hex[65];

    if (!n->open || n->missing == 0)
        return err_world(err, "node: content that nobody asked for");
    n->got_bytes += len;
    if (n->got_bytes > MOST_BYTES)
        return err_world(err, "node: the task's files are more than %d MB", MOST_BYTES >> 20);
    char *bytes = arena_array(n->arena, char, len + 1);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(16 * str_hex_digit(text[2 * i]) + str_hex_digit(text[2 * i + 1]));
    hash_sha256_hex(bytes, len, hex);
    if (!is_hash(hash) || !str_eq(hex, hash))
        return err_world(err, "node: content that is not what its hash says");
    if (!fs_write(arena_printf(n->arena, "%s/contents/%s", n->cache, hash), bytes, len, err))
        return false;
    n->missing--;
    return true;
}

/* ---- the worker ---- */

static void stop_worker(struct node_state *n)
{
    if (n->running)
        proc_kill(&n->worker.proc);
    n->running = n->answering = false;
}

static bool write_task(struct node_state *n, const char *folder, struct err *err)
{
    const json_t *files = json_object_get(n->open, "files");

    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *f = json_array_get(files, i);
        const char *name = beneath_plain(n->arena, json_text(f, "name", ""));
        char *bytes, *path;
        size_t len;
        if (!name || str_eq(name, "."))
            return err_world(err, "node: a file's name leads out of the task's folder");
        if (!cached(n, n->arena, json_text(f, "hash", ""), &bytes, &len))
            return err_world(err, "node: %s is not what was sent any more", name);
        path = fs_join(n->arena, folder, name);
        if (!fs_mkdirs(fs_dirname(n->arena, path), err) || !fs_write(path, bytes, len, err))
            return false;
    }
    return true;
}

/* All contents are here. */
static bool start_worker(struct node_state *n, struct err *err)
{
    const char *const argv[] = {n->self, "worker", NULL};
    const char *task = fs_join(n->arena, n->folder, "task"), *scratch = fs_join(n->arena, n->folder, "scratch");
    char *line;
    bool ok;

    stop_worker(n);
    fs_remove_tree(task);
    fs_remove_tree(scratch);
    n->limits = (struct pool_limits){.candidate_s = json_num(n->open, "candidate_s"),
                                     .wall_s = json_num(n->open, "wall_s"),
                                     .resident_bytes = (size_t)json_int(n->open, "resident_bytes", 0)};
    if (!(n->limits.candidate_s > 0) || !(n->limits.wall_s > 0) || n->limits.resident_bytes == 0)
        return err_world(err, "node: open without the limits of a candidate");
    if (!write_task(n, task, err) || !fs_mkdirs(scratch, err) ||
        !proc_open(&n->worker.proc, PROC_SELF, argv, -1, err))
        return false;
    n->running = n->answering = true;
    n->judging = n->second = false;
    json_object_del(n->open, "files");
    json_put_text(n->open, "task", task);
    json_put_text(n->open, "scratch", scratch);
    line = json_take_line(n->arena, one("open", n->open));
    n->open = NULL;
    ok = proc_send_line(&n->worker.proc, line, err);
    process_asked(&n->worker);
    return ok;
}

static bool handle_open(struct node_state *n, json_t *o, struct err *err)
{
    const json_t *files = json_object_get(o, "files");
    json_t *want = json_array();
    char *bytes;
    size_t len;

    stop_worker(n);
    json_decref(n->open);
    n->open = json_incref(o);
    n->missing = n->got_bytes = 0;
    arena_reset(n->arena);
    if (json_array_size(files) == 0 || json_array_size(files) > MOST_FILES) {
        json_decref(want);
        return err_world(err, "node: open without the task's files, or with too many");
    }
    for (size_t i = 0; i < json_array_size(files); i++) {
        const char *hash = json_text(json_array_get(files, i), "hash", "");
        if (is_hash(hash) && cached(n, n->arena, hash, &bytes, &len))
            continue;
        json_array_append_new(want, json_string(hash));
        n->missing++;
    }
    if (n->missing == 0) {
        json_decref(want);
        return start_worker(n, err);
    }
    say(n, one("want", want));
    return true;
}

static bool say_lost(struct node_state *n, struct process_loss *loss)
{
    return say(n, one("lost", process_loss_to_json(loss)));
}

/* A line of the pool's. False with err: it is told, and the pool knows that nothing of it was done. */
static bool handle(struct node_state *n, const char *line, struct err *err)
{
    json_t *request = json_parse(line, strlen(line), "request", err), *o;
    bool ok = request != NULL;

    if (ok && (o = json_object_get(request, "open"))) {
        ok = handle_open(n, o, err);
    } else if (ok && (o = json_object_get(request, "content"))) {
        ok = take_content(n, o, err) && (n->missing > 0 || start_worker(n, err));
    } else if (ok && (o = json_object_get(request, "judge"))) {
        struct process_loss idle = {.verdict = VERDICT_TOO_SLOW};
        n->second = json_flag(o, "again", false);
        if (n->running && proc_send_line(&n->worker.proc, line, NULL)) {
            process_asked(&n->worker);
            n->answering = n->judging = true;
        } else { /* it died while it had nothing to do */
            stop_worker(n);
            o = process_loss_to_json(&idle);
            json_put_flag(o, "idle", true);
            say(n, one("lost", o));
        }
    } else if (ok) {
        ok = err_world(err, "node: neither open, content nor judge");
    }
    json_decref(request);
    return ok;
}

/* A line of the worker's: as it is. */
static bool pass_on(struct node_state *n, const char *line)
{
    json_t *o = json_parse(line, strlen(line), "worker", NULL);
    struct process_loss loss = {VERDICT_CRASHED, false, "the worker answered with something that is no answer"};
    bool sent = true;

    if (!json_is_object(o)) {
        stop_worker(n);
        sent = say_lost(n, &loss);
    } else {
        bool told = process_told(&n->worker, o);
        if (!told && n->judging && process_overdrew(&n->worker, true, &n->limits, &loss)) {
            stop_worker(n);
            json_decref(o);
            return say_lost(n, &loss);
        }
        n->answering = n->answering && told;
        sent = fprintf(n->out, "%s\n", line) > 0 && fflush(n->out) == 0;
        n->said_s = time_s();
        if (json_flag(o, "ending", false))
            stop_worker(n);
    }
    json_decref(o);
    return sent;
}

static bool turn_worker(struct node_state *n, struct str *line)
{
    struct process_loss loss;

    switch (proc_read_line(&n->worker.proc, 0, line)) {
    case PROC_LINE:
        return pass_on(n, str_text(line));
    case PROC_EOF:
        n->running = false;
        process_died(&n->worker, n->second, &n->limits, &loss);
        if (!n->answering)
            return true; /* the next judge is told */
        n->answering = false;
        return say_lost(n, &loss);
    case PROC_TIMEOUT:
        break;
    }
    if (n->worker.proc.pending.len > (size_t)MOST_BYTES) {
        loss = (struct process_loss){VERDICT_CRASHED, false, "the worker wrote more than 64 MB"};
    } else if (!n->answering || !process_watch(&n->worker, n->judging, &n->limits, &loss)) {
        return true;
    }
    stop_worker(n);
    return say_lost(n, &loss);
}

/* One round; false when the pool is gone. */
static bool turn(struct node_state *n, struct str *line)
{
    struct pollfd fds[2] = {{n->up.from, POLLIN, 0}, {n->running ? n->worker.proc.from : -1, POLLIN, 0}};
    struct err err = {0};
    bool ready = (n->up.pending.len && memchr(n->up.pending.s, '\n', n->up.pending.len)) ||
                 (n->running && n->worker.proc.pending.len &&
                  memchr(n->worker.proc.pending.s, '\n', n->worker.proc.pending.len));

    if (!ready)
        poll(fds, 2, n->answering ? POLL_MS : 1000 * NODE_ALIVE_S);
    switch (proc_read_line(&n->up, 0, line)) {
    case PROC_LINE:
        if (!handle(n, str_text(line), &err) && !say_error(n, &err))
            return false;
        break;
    case PROC_EOF:
        return false;
    case PROC_TIMEOUT:
        break;
    }
    if (n->up.pending.len > 2 * (size_t)MOST_BYTES || (n->running && !turn_worker(n, line)))
        return false;
    return time_s() - n->said_s < NODE_ALIVE_S || say(n, one("alive", json_true()));
}

int pool_node_main(void)
{
    struct arena *a = arena_open();
    struct node_state n = {.arena = arena_open(),
                           .up = {.pid = -1, .to = -1, .from = STDIN_FILENO},
                           .out = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "w"),
                           .lock = -1};
    const struct sigaction end = {.sa_handler = end_asked};
    struct str line = {0};
    struct err err = {0};
    json_t *hello = json_object();
    bool ok;

    proc_take_name();
    signal(SIGINT, SIG_IGN); /* Ctrl-C is the pool's to act on */
    signal(SIGPIPE, SIG_IGN);
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGHUP, &end, NULL);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    ok = n.out && open_folder(&n, a, &err);
    json_put_text(hello, "astra", ASTRA_VERSION);
    json_put_int(hello, "protocol", NODE_PROTOCOL);
    if (ok)
        ok = say(&n, one("node", hello));
    else if (n.out)
        say_error(&n, &err);
    while (ok && !ended && turn(&n, &line))
        ;
    stop_worker(&n);
    if (n.folder)
        fs_remove_tree(n.folder);
    str_free(&line);
    str_free(&n.up.pending);
    json_decref(n.open);
    arena_close(n.arena);
    arena_close(a);
    return ok ? 0 : 1;
}
