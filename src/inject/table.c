/* The counts. Records are added under a lock and then stay where they are; their figures change under it, too:
 * a launch takes it once or twice, for some tens of nanoseconds. The file is as large as it will ever be from
 * its beginning, and its blocks are there: a page that the disk has no room for would end the program with
 * SIGBUS. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS = 4 * CAPTURE_RECORDS, KERNELS = 1 << 16 };

/* A key with the record in its last bits; 0: free. Written under the lock, read without. */
#define RECORD_BITS ((uint64_t)CAPTURE_RECORDS - 1)
_Static_assert((CAPTURE_RECORDS & (CAPTURE_RECORDS - 1)) == 0, "bits of a slot");

static struct {
    struct capture_file *file;
    bool tried;
    uint64_t first_ns, new_launches; /* of records that have no time yet, since the last window */
    pthread_mutex_t lock A_LINE;
    unsigned n_functions;
    uint64_t named[SLOTS], functions[SLOTS]; /* records by name and shape, by handle and shape */
} t A_LINE = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *kernels[KERNELS]; /* those of libraries, by hash; like the names they stay */
static unsigned n_kernels;

static uint64_t mix(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    uint32_t word;

    for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        h = (h ^ word) * 0x9ddfea08eb382d69;
        h ^= h >> 32;
    }
    for (; n; p++, n--)
        h = (h ^ *p) * 0x100000001b3;
    h ^= h >> 29;
    return h | (uint64_t)1 << 63; /* a key is not 0 */
}

static bool has_room(void)
{
    struct rlimit limit;

    /* A file that may not grow so far would bring SIGXFSZ. */
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           limit.rlim_cur >= sizeof(struct capture_file);
}

static void name_program(struct capture_file *f)
{
    ssize_t n = readlink("/proc/self/exe", f->program, sizeof(f->program) - 1);

    f->program[n > 0 ? n : 0] = 0;
}

static struct capture_file *map_file(const char *dir)
{
    char path[4096];
    struct capture_file *f = NULL;
    int fd = -1, code = 0;

    if (!has_room()) {
        say("nothing is counted: the limit of a file's size (ulimit -f) is below the %zu bytes that counts take",
            sizeof(*f));
        return NULL;
    }
    for (int again = 0; fd < 0 && again < 100; again++) { /* a process number may come twice */
        snprintf(path, sizeof(path), "%s/%ld-%d" CAPTURE_SUFFIX, dir, (long)getpid(), again);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        say("nothing is counted: %s: %s", path, strerror(errno));
        return NULL;
    }
    if ((code = posix_fallocate(fd, 0, sizeof(*f))) == 0) {
        f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (f == MAP_FAILED) {
            code = errno;
            f = NULL;
        }
    }
    close(fd);
    if (!f) {
        say("nothing is counted: %s: %s", path, strerror(code));
        unlink(path);
        return NULL;
    }
    memcpy(f->magic, CAPTURE_MAGIC, sizeof(f->magic));
    f->version = CAPTURE_VERSION;
    f->bytes = sizeof(*f);
    f->pid = (uint32_t)getpid();
    f->parent = (uint32_t)getppid();
    f->every = 1;
    f->times = CAPTURE_EVENTS;
    f->n_names = 1; /* "": the name of what has none */
    name_program(f);
    return f;
}

static void in_child(void) /* of a fork: the counts are the parent's; the child gets its own when it launches */
{
    if (t.file)
        munmap(t.file, sizeof(*t.file));
    memset(&t, 0, sizeof(t));
    pthread_mutex_init(&t.lock, NULL);
    sample_forget();
    keep_forget();
    cupti_forget();
}

static void before_fork(void)
{
    pthread_mutex_lock(&t.lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&t.lock);
}

static bool table_wanted(void)
{
    const char *dir = getenv("ASTRA_CAPTURE_DIR");

    return dir && *dir && !getauxval(AT_SECURE);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

struct capture_file *table(void)
{
    static pthread_once_t forks = PTHREAD_ONCE_INIT;

    if (__atomic_load_n(&t.tried, __ATOMIC_ACQUIRE)) /* each launch comes here */
        return t.file;
    pthread_mutex_lock(&t.lock);
    if (!t.tried) {
        const char *times = getenv("ASTRA_CAPTURE_TIMES");
        t.file = table_wanted() ? map_file(getenv("ASTRA_CAPTURE_DIR")) : NULL;
        if (t.file && times && !strcmp(times, "none"))
            t.file->times = CAPTURE_NONE;
        t.first_ns = now_coarse_ns();
        __atomic_store_n(&t.tried, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&t.lock);
    pthread_once(&forks, watch_forks);
    return t.file;
}

struct capture_file *table_made(void)
{
    return __atomic_load_n(&t.tried, __ATOMIC_ACQUIRE) ? t.file : NULL;
}

static uint64_t *slot_of(uint64_t *slots, uint64_t key)
{
    size_t at = (key >> 32) % SLOTS;
    uint64_t there;

    while ((there = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE)) && (there ^ key) & ~RECORD_BITS)
        at = (at + 1) % SLOTS;
    return &slots[at];
}

static uint32_t record_in(const uint64_t *slot)
{
    uint64_t there = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

    return there ? (uint32_t)(there & RECORD_BITS) : NO_RECORD;
}

static void fill(uint64_t *slot, uint64_t key, uint32_t record)
{
    __atomic_store_n(slot, (key & ~RECORD_BITS) | record, __ATOMIC_RELEASE);
}

static uint32_t name_of(struct capture_file *f, const char *name)
{
    size_t n = strlen(name) + 1;
    uint32_t at = f->n_names;

    for (uint32_t i = 0; i < f->n_records; i++)
        if (!strcmp(f->names + f->records[i].name, name))
            return f->records[i].name;
    if (n > CAPTURE_NAMES - at)
        return 0;
    memcpy(f->names + at, name, n);
    f->n_names = at + (uint32_t)n;
    return at;
}

static uint32_t add(struct capture_file *f, const char *name, const struct shape *s)
{
    uint64_t key = mix(mix(0xcbf29ce484222325, name, strlen(name)), s, sizeof(*s));
    uint64_t *slot = slot_of(t.named, key);
    struct capture_record *r = &f->records[f->n_records];

    if (*slot)
        return record_in(slot);
    if (f->n_records == CAPTURE_RECORDS)
        return NO_RECORD;
    r->name = name_of(f, name);
    memcpy(r->grid, s->grid, sizeof(r->grid));
    memcpy(r->block, s->block, sizeof(r->block));
    r->dynamic_bytes = s->dynamic_bytes;
    r->device = s->device;
    r->in_graph = s->in_graph;
    r->min_ns = UINT64_MAX;
    if (waits_for_others(name))
        cupti_gently();
    fill(slot, key, f->n_records);
    __atomic_store_n(&f->n_records, f->n_records + 1, __ATOMIC_RELEASE);
    return record_in(slot);
}

uint32_t table_named(const char *name, const struct shape *s)
{
    struct capture_file *f = table();
    uint32_t record;

    if (!f)
        return NO_RECORD;
    pthread_mutex_lock(&t.lock);
    record = add(f, name, s);
    pthread_mutex_unlock(&t.lock);
    return record;
}

static void **place_of(void *kernel)
{
    size_t at = mix(3, &kernel, sizeof(kernel)) % KERNELS, tries = 0;

    while (kernels[at] && kernels[at] != kernel && ++tries < KERNELS)
        at = (at + 1) % KERNELS;
    return &kernels[at];
}

void kernel_seen(void *kernel)
{
    if (!kernel || !(table_wanted() || replace_active()))
        return;
    pthread_mutex_lock(&t.lock);
    if (n_kernels < KERNELS / 2 && !*place_of(kernel)) {
        *place_of(kernel) = kernel;
        n_kernels++;
    }
    pthread_mutex_unlock(&t.lock);
}

bool is_kernel(void *function)
{
    pthread_mutex_lock(&t.lock);
    bool known = *place_of(function) == function;
    pthread_mutex_unlock(&t.lock);
    return known;
}

const char *driver_name(void *function)
{
    const struct calls *c = driver_calls();
    const char *name = NULL;

    if (!c)
        return NULL;
    int (*ways[])(const char **, void *) = {c->function_name, c->kernel_name};
    for (int i = 0, first = is_kernel(function); i < 2; i++)
        if (ways[i ^ first] && ways[i ^ first](&name, function) == 0 && name)
            return name;
    return NULL;
}

uint32_t table_function(void *function, const struct shape *s)
{
    struct capture_file *f = table();
    uint64_t key = mix(mix(0x9e3779b97f4a7c15, &function, sizeof(function)), s, sizeof(*s));
    uint32_t record;
    uint64_t *slot;
    const char *name;

    if (!f)
        return NO_RECORD;
    record = record_in(slot_of(t.functions, key));
    if (record != NO_RECORD)
        return record;
    if (!(name = driver_name(function))) {
        table_note(&f->nameless, 1);
        name = "(a kernel without a name)";
    }
    pthread_mutex_lock(&t.lock);
    record = add(f, name, s);
    slot = slot_of(t.functions, key);
    if (record != NO_RECORD && !*slot && t.n_functions < SLOTS / 2) {
        fill(slot, key, record);
        t.n_functions++;
    }
    pthread_mutex_unlock(&t.lock);
    return record;
}

void table_functions_gone(void)
{
    pthread_mutex_lock(&t.lock);
    for (size_t i = 0; i < SLOTS; i++)
        __atomic_store_n(&t.functions[i], 0, __ATOMIC_RELAXED);
    t.n_functions = 0;
    pthread_mutex_unlock(&t.lock);
}

void table_count(uint32_t record, uint64_t n, uint64_t now)
{
    struct capture_record *r = record == NO_RECORD ? NULL : &t.file->records[record];

    __atomic_fetch_add(r ? &r->launches : &t.file->lost, n, __ATOMIC_RELAXED);
    if (r && !r->timed)
        __atomic_fetch_add(&t.new_launches, n, __ATOMIC_RELAXED);
    __atomic_store_n(&t.file->wall_ns, now - t.first_ns, __ATOMIC_RELAXED);
}

uint64_t table_new_launches(void)
{
    return __atomic_load_n(&t.new_launches, __ATOMIC_RELAXED);
}

void table_time(uint32_t record, uint64_t ns, bool first)
{
    struct capture_record *r;

    if (record == NO_RECORD)
        return;
    pthread_mutex_lock(&t.lock);
    r = &t.file->records[record];
    if (first) {
        r->first_ns = ns;
    } else {
        r->timed++;
        r->time_ns += ns;
        r->window_timed++;
        r->window_ns += ns;
        r->square_ns += (double)ns * (double)ns;
        r->min_ns = ns < r->min_ns ? ns : r->min_ns;
        r->max_ns = ns > r->max_ns ? ns : r->max_ns;
    }
    pthread_mutex_unlock(&t.lock);
}

void table_window(void)
{
    struct capture_file *f = t.file;

    pthread_mutex_lock(&t.lock);
    for (uint32_t i = 0; i < f->n_records; i++) {
        struct capture_record *r = &f->records[i];
        uint64_t launches = __atomic_load_n(&r->launches, __ATOMIC_RELAXED);
        if (!r->window_timed)
            continue;
        r->told_ns += (double)(launches - r->told_launches) * (double)r->window_ns / (double)r->window_timed;
        r->told_launches = launches;
        r->window_timed = r->window_ns = 0;
    }
    f->windows++;
    t.new_launches = 0;
    pthread_mutex_unlock(&t.lock);
}

void table_note(uint64_t *counter, uint64_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}
