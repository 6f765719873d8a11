/* Launches of some kernels answered by prepared ones, in the same stream. Whatever is not exactly what was
 * prepared takes the original, and is counted. The new code is loaded once a context, outside of the capture of
 * graphs. */
#include "internal.h"

#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CONTEXTS = 16,
    FUNCTIONS = 4096,
    MAX_DYNAMIC_SHARED = 8,
    NON_PORTABLE_CLUSTER = 14,
    PORTABLE_SHARED = 48 << 10
};
enum { COOPERATIVE = 2, CLUSTER = 4, PROGRAMMATIC = 6 };

struct loaded {
    void *context;    /* NULL: free */
    void *module;     /* NULL: the driver would not load it */
    void **functions; /* one a step */
};

struct set { /* a file of plans: what a result makes of one kernel */
    const struct replace_head *head;
    struct replace_counts *counts, none;
    struct loaded loaded[CONTEXTS];
};

static struct {
    pthread_mutex_t lock;
    bool tried;
    unsigned n; /* 0: nothing is replaced */
    struct set sets[REPLACE_SETS];
    struct {
        void *function;
        unsigned set; /* plus 1; 0: of none */
    } seen[FUNCTIONS];
} r = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define RECORDS(set, type, member) \
    ((const struct type *)(const void *)((const char *)(set)->head + (set)->head->member.at))

static const char *bytes_at(const struct set *set, uint32_t at)
{
    return (const char *)set->head + set->head->data.at + at;
}

/* ---- the files ---- */

static void tell(const char *fmt, const char *a, const char *b)
{
    char text[1024];
    int n = snprintf(text, sizeof(text), "astra replace: process %ld: ", (long)getpid());

    n += snprintf(text + n, sizeof(text) - (size_t)n, fmt, a, b);
    if (n >= (int)sizeof(text))
        n = sizeof(text) - 1;
    text[n - 1] = '\n';
    if (write(2, text, (size_t)n) < 0)
        return;
}

static void *read_file(const char *path, size_t *n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), code = 0;
    struct stat st;
    char *text = NULL;
    size_t done = 0;

    if (fd < 0 || fstat(fd, &st) != 0)
        code = errno;
    else if (!S_ISREG(st.st_mode) || st.st_size <= 0 || (size_t)st.st_size > REPLACE_MOST)
        code = EINVAL;
    else if (!(text = aligned_alloc(64, ((size_t)st.st_size + 63) / 64 * 64)))
        code = ENOMEM;
    while (!code && done < (size_t)st.st_size) {
        ssize_t got = read(fd, text + done, (size_t)st.st_size - done);
        if (got > 0)
            done += (size_t)got;
        else if (got == 0 || errno != EINTR)
            code = got ? errno : EINVAL;
    }
    if (fd >= 0)
        close(fd);
    if (code) {
        tell("nothing is replaced: %s: %s\n", path, strerror(code));
        free(text);
        return NULL;
    }
    *n = done;
    return text;
}

static struct replace_counts *map_counts(struct set *set, const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    void *at = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == sizeof(struct replace_counts))
        at = mmap(NULL, sizeof(struct replace_counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (at != MAP_FAILED)
        return at;
    tell("launches are not counted: %s%s cannot be mapped\n", path, "");
    return &set->none;
}

/* Their numbers stand behind the names, but for the first. */
static void file_path(char path[4096], const char *dir, const char *name, unsigned i)
{
    if (i)
        snprintf(path, 4096, "%s/%s-%u", dir, name, i);
    else
        snprintf(path, 4096, "%s/%s", dir, name);
}

static void open_set(const char *dir, unsigned i)
{
    struct set *set = &r.sets[r.n];
    char path[4096];
    size_t n = 0;
    void *file;

    file_path(path, dir, REPLACE_PLANS, i);
    if (!(file = read_file(path, &n)))
        return;
    if (!replace_file_is_whole(file, n)) {
        tell("nothing is replaced: %s%s is damaged, or not of this version of Astra\n", path, "");
        free(file);
        return;
    }
    file_path(path, dir, REPLACE_COUNTS, i);
    set->head = file;
    set->counts = map_counts(set, path);
    __atomic_fetch_add(&set->counts->processes, 1, __ATOMIC_RELAXED);
    r.n++;
    tell("launches of %s are replaced%s\n", bytes_at(set, RECORDS(set, replace_launch, launches)->symbol), "");
}

static void open_files(const char *dir)
{
    char path[4096];

    for (unsigned i = 0; i < REPLACE_SETS; i++) {
        file_path(path, dir, REPLACE_PLANS, i);
        if (i && access(path, F_OK) != 0)
            break;
        open_set(dir, i);
    }
}

static void before_fork(void)
{
    pthread_mutex_lock(&r.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&r.lock);
}

static void in_child(void) /* contexts do not outlive a fork */
{
    for (unsigned i = 0; i < r.n; i++)
        memset(r.sets[i].loaded, 0, sizeof(r.sets[i].loaded));
    memset(r.seen, 0, sizeof(r.seen));
    pthread_mutex_init(&r.lock, NULL);
}

bool replace_active(void)
{
    if (__atomic_load_n(&r.tried, __ATOMIC_ACQUIRE)) /* each launch comes here */
        return r.n;
    pthread_mutex_lock(&r.lock);
    if (!r.tried) {
        const char *dir = getenv("ASTRA_REPLACE");
        if (dir && *dir && !getauxval(AT_SECURE)) {
            open_files(dir);
            pthread_atfork(before_fork, after_fork, in_child);
        }
        __atomic_store_n(&r.tried, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&r.lock);
    return r.n;
}

void replace_gone(bool contexts)
{
    if (!replace_active())
        return;
    pthread_mutex_lock(&r.lock);
    memset(r.seen, 0, sizeof(r.seen)); /* handles may be used anew */
    for (unsigned i = 0; contexts && i < r.n; i++)
        memset(r.sets[i].loaded, 0, sizeof(r.sets[i].loaded));
    pthread_mutex_unlock(&r.lock);
}

/* ---- the code ---- */

/* What the steps need of their functions: of two with one function the larger amount of shared memory. */
static void set_attributes(const struct set *set, const struct calls *c, void **functions)
{
    const struct replace_step *s = RECORDS(set, replace_step, steps);

    for (uint32_t i = 0; i < set->head->steps.n && c->set_attribute; i++) {
        uint32_t most = s[i].dynamic_bytes;
        for (uint32_t k = 0; k < set->head->steps.n; k++)
            if (functions[k] == functions[i] && s[k].dynamic_bytes > most)
                most = s[k].dynamic_bytes;
        if (most > PORTABLE_SHARED / 2) /* its static memory counts, too */
            c->set_attribute(functions[i], MAX_DYNAMIC_SHARED, (int)most);
        if (s[i].non_portable)
            c->set_attribute(functions[i], NON_PORTABLE_CLUSTER, 1);
    }
}

static void load(const struct set *set, struct loaded *l)
{
    const struct calls *c = driver_calls();
    const struct replace_head *h = set->head;
    const char *file = (const char *)h;
    int code = -1;

    if (!c->load_module || !c->get_function || !c->launch ||
        !(l->functions = calloc(h->steps.n, sizeof(*l->functions))))
        return;
    if (h->cubin.n)
        code = c->load_module(&l->module, file + h->cubin.at);
    if (code != 0 && h->ptx.n)
        code = c->load_module(&l->module, file + h->ptx.at);
    for (uint32_t i = 0; code == 0 && i < h->steps.n; i++)
        code = c->get_function(&l->functions[i], l->module,
                               bytes_at(set, RECORDS(set, replace_step, steps)[i].function));
    if (code == 0)
        set_attributes(set, c, l->functions);
    else
        l->module = NULL;
}

/* Of the current context; false: there is none, or it may not be loaded now. */
static bool loaded_now(struct set *set, bool may_load, struct loaded *now)
{
    const struct calls *c = driver_calls();
    struct loaded *l = set->loaded, *end = l + CONTEXTS;
    void *context = NULL;

    if (!c || !c->context_current || c->context_current(&context) != 0 || !context)
        return false;
    pthread_mutex_lock(&r.lock);
    while (l < end && l->context && l->context != context)
        l++;
    bool there = l < end && (l->context || may_load);
    if (there && !l->context) {
        load(set, l);
        l->context = context;
    }
    if (there)
        *now = *l;
    pthread_mutex_unlock(&r.lock);
    return there;
}

/* ---- launches ---- */

static bool has_symbol(const struct set *set, const char *name)
{
    for (uint32_t i = 0; i < set->head->launches.n; i++)
        if (!strcmp(bytes_at(set, RECORDS(set, replace_launch, launches)[i].symbol), name))
            return true;
    return false;
}

/* The plans for the kernel; NULL: none. */
static struct set *set_of(void *function)
{
    size_t at = ((uintptr_t)function >> 4) % FUNCTIONS;
    unsigned found = 0;
    const char *name;

    pthread_mutex_lock(&r.lock);
    bool known = r.seen[at].function == function;
    if (known)
        found = r.seen[at].set;
    pthread_mutex_unlock(&r.lock);
    if (!known && (name = driver_name(function))) {
        for (unsigned i = 0; i < r.n && !found; i++)
            found = has_symbol(&r.sets[i], name) ? i + 1 : 0;
        pthread_mutex_lock(&r.lock);
        r.seen[at].function = function;
        r.seen[at].set = found;
        pthread_mutex_unlock(&r.lock);
    }
    return found ? &r.sets[found - 1] : NULL;
}

/* The value of a parameter as the program gave it; NULL: it cannot be read. */
static const char *given(const struct replace_call *c, const struct replace_param *p, uint32_t i)
{
    const char *buffer = NULL;
    size_t size = 0;

    if (c->params)
        return c->params[i];
    for (size_t k = 0; c->extra && c->extra[k] && k < 8; k += 2) {
        if (c->extra[k] == (void *)1)
            buffer = c->extra[k + 1];
        else if (c->extra[k] == (void *)2 && c->extra[k + 1])
            memcpy(&size, c->extra[k + 1], sizeof(size));
    }
    return buffer && (size_t)p->offset + p->bytes <= size ? buffer + p->offset : NULL;
}

/* Where each buffer of the launch begins; or why it is none that was prepared. */
static enum replace_outcome find_buffers(const struct set *set, const struct replace_launch *l,
                                         const struct replace_call *c, uint64_t begins[REPLACE_BUFFERS])
{
    const struct replace_param *p = RECORDS(set, replace_param, params) + l->params.at;
    bool known[REPLACE_BUFFERS] = {false};
    uint64_t at;

    for (uint32_t i = 0; i < l->params.n; i++) {
        const char *value = given(c, &p[i], i);
        if (!value)
            return REPLACE_PARAMETERS;
        if (p[i].buffer < 0) {
            if (memcmp(value, bytes_at(set, p[i].value), p[i].bytes) != 0)
                return REPLACE_VALUES;
            continue;
        }
        memcpy(&at, value, sizeof(at));
        at -= (uint64_t)p[i].add;
        if (known[p[i].buffer] && begins[p[i].buffer] != at)
            return REPLACE_VALUES;
        known[p[i].buffer] = true;
        begins[p[i].buffer] = at;
    }
    for (uint32_t i = 0; i < l->buffers.n; i++)
        if (!known[i])
            return REPLACE_PARAMETERS;
    return REPLACE_DONE;
}

static enum replace_outcome look_at_buffers(const struct set *set, const struct replace_launch *l,
                                            const uint64_t *begins)
{
    const struct replace_buffer *b = RECORDS(set, replace_buffer, buffers) + l->buffers.at;

    for (uint32_t i = 0; i < l->buffers.n; i++)
        if (begins[i] & (b[i].align - 1))
            return REPLACE_ALIGNMENT;
    for (uint32_t i = 0; i < l->buffers.n; i++)
        for (uint32_t k = 0; k < i; k++)
            if ((b[i].written || b[k].written) && begins[i] - begins[k] < b[k].bytes)
                return REPLACE_OVERLAP;
            else if ((b[i].written || b[k].written) && begins[k] - begins[i] < b[i].bytes)
                return REPLACE_OVERLAP;
    return REPLACE_DONE;
}

/* The prepared launch that this one is; NULL with the reason. */
static const struct replace_launch *find(const struct set *set, const struct replace_call *c,
                                         uint64_t begins[REPLACE_BUFFERS], enum replace_outcome *why)
{
    const struct replace_launch *l = RECORDS(set, replace_launch, launches);

    *why = REPLACE_SHAPE;
    for (uint32_t i = 0; i < set->head->launches.n; i++, l++) {
        if (memcmp(l->grid, c->shape->grid, sizeof(l->grid)) != 0 ||
            memcmp(l->block, c->shape->block, sizeof(l->block)) != 0 ||
            l->dynamic_bytes != c->shape->dynamic_bytes)
            continue;
        if ((*why = find_buffers(set, l, c, begins)) == REPLACE_DONE)
            *why = look_at_buffers(set, l, begins);
        if (*why == REPLACE_DONE)
            return l;
        if (*why != REPLACE_VALUES && *why != REPLACE_ALIGNMENT)
            return NULL;
    }
    return NULL;
}

struct attribute { /* CUlaunchAttribute */
    int id, unused;
    union {
        uint32_t cluster[3];
        int flag;
        char bytes[64];
    };
};

struct config { /* CUlaunchConfig */
    uint32_t grid[3], block[3], shared;
    void *stream;
    struct attribute *attributes;
    uint32_t n_attributes;
};

static int launch_step(const struct replace_step *s, void *function, void *stream, void **params, bool first)
{
    const struct calls *c = driver_calls();
    struct attribute attributes[3] = {{0}};
    struct config config = {.shared = s->dynamic_bytes, .stream = stream, .attributes = attributes};

    if (s->cooperative)
        attributes[config.n_attributes++] = (struct attribute){.id = COOPERATIVE, .flag = 1};
    if (s->cluster[0]) {
        attributes[config.n_attributes].id = CLUSTER;
        memcpy(attributes[config.n_attributes++].cluster, s->cluster, sizeof(s->cluster));
    }
    if (s->programmatic && !first) /* what the program launched ahead is not known to allow it */
        attributes[config.n_attributes++] = (struct attribute){.id = PROGRAMMATIC, .flag = 1};
    if (!config.n_attributes)
        return c->launch(function, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2],
                         s->dynamic_bytes, stream, params, NULL);
    memcpy(config.grid, s->grid, sizeof(s->grid));
    memcpy(config.block, s->block, sizeof(s->block));
    return c->launch_ex ? c->launch_ex(&config, function, params, NULL) : NOT_INITIALIZED;
}

static int launch_all(const struct set *set, const struct replace_launch *l, const struct loaded *code_of,
                      const uint64_t *begins, void *stream, uint32_t *launched)
{
    const struct replace_step *s = RECORDS(set, replace_step, steps) + l->steps.at;
    const struct replace_param *p;
    uint64_t pointers[REPLACE_PARAMS];
    void *params[REPLACE_PARAMS];
    int code = 0;

    for (*launched = 0; *launched < l->steps.n; s++, ++*launched) {
        p = RECORDS(set, replace_param, params) + s->params.at;
        for (uint32_t i = 0; i < s->params.n; i++) {
            if (p[i].buffer >= 0)
                pointers[i] = begins[p[i].buffer] + (uint64_t)p[i].add;
            params[i] = p[i].buffer >= 0 ? (void *)&pointers[i] : (void *)(uintptr_t)bytes_at(set, p[i].value);
        }
        code = launch_step(s, code_of->functions[l->steps.at + *launched], stream, params, *launched == 0);
        if (code != 0)
            return code;
    }
    return 0;
}

static enum replace_outcome launch_instead(struct set *set, const struct replace_call *c, int *code)
{
    uint64_t begins[REPLACE_BUFFERS];
    const struct replace_launch *l;
    enum replace_outcome outcome;
    struct loaded loaded = {0};
    bool capturing, there;
    uint32_t launched;

    if (!c->plain)
        return REPLACE_ATTRIBUTES;
    if (!(l = find(set, c, begins, &outcome)))
        return outcome;
    capturing = stream_captures(c->stream);
    there = loaded_now(set, !capturing, &loaded);
    if (!there || !loaded.module)
        return there || !capturing ? REPLACE_CODE : REPLACE_CAPTURING;
    *code = launch_all(set, l, &loaded, begins, c->stream, &launched);
    if (*code != 0 && !launched)
        return REPLACE_REFUSED;
    return capturing ? REPLACE_RECORDED : REPLACE_DONE;
}

bool replace_launch(const struct replace_call *c, int *code)
{
    enum replace_outcome outcome;
    struct set *set;

    if (!replace_active() || !driver_calls() || !(set = set_of(c->function)))
        return false;
    outcome = launch_instead(set, c, code);
    __atomic_fetch_add(&set->counts->n[outcome], 1, __ATOMIC_RELAXED);
    return outcome == REPLACE_DONE || outcome == REPLACE_RECORDED;
}
