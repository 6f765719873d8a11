/* Launches of chosen kernels, kept: a line of JSON each in PID-N.launches, with the parameters by the kernel's
 * own layout, and the code that the kernel came from in images/. A launch is kept when its shape and its
 * parameters that are no pointers are new; at most MOST of a process. What pointers point to is not looked at,
 * only how much memory there is. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 256, FUNCTIONS = 4096, PARAMETERS = 128, LINE = 64 << 10, LOOKED_AT = 4096 };
#define IMAGE_MOST ((size_t)64 << 20)

struct image {
    void *handle; /* the module or library */
    unsigned char *data;
    size_t n;
    char name[48]; /* of its file; "": not written */
};

static struct {
    pthread_mutex_t lock;
    uint64_t seen[MOST]; /* hashes of what is kept */
    unsigned n, looked_at;
    struct {
        void *function;
        bool wanted;
    } functions[FUNCTIONS];
    struct image *images;
    size_t n_images;
    bool broken; /* the file does not take more */
} k = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool keep_active(void)
{
    static int known = -1;

    if (known < 0)
        known = getenv("ASTRA_CAPTURE_KEEP") && *getenv("ASTRA_CAPTURE_KEEP");
    return known;
}

/* ---- files ---- */

static bool write_all(const char *path, int flags, const void *data, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600), code = 0;
    struct rlimit limit;
    struct stat st;
    size_t done = 0;

    if (fd >= 0 && fstat(fd, &st) == 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY && (uint64_t)st.st_size + n > limit.rlim_cur)
        code = EFBIG; /* SIGXFSZ else */
    while (fd >= 0 && !code && done < n) {
        ssize_t w = write(fd, (const char *)data + done, n - done);
        if (w > 0)
            done += (size_t)w;
        else if (w == 0 || errno != EINTR)
            code = w ? errno : ENOSPC;
    }
    if (fd >= 0)
        close(fd);
    else
        code = errno;
    if (code)
        say("no more launches are kept: %s: %s", path, strerror(code));
    return !code;
}

static uint64_t hash(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3;
    return h ^ h >> 31;
}

/* ---- images ---- */

/* How long an image is: PTX ends with a zero, an ELF file behind its last section header, a fat binary says it.
 */
static const void *image_of(const void *image, size_t *n, const char **kind)
{
    const unsigned char *p = image;
    uint32_t magic;
    uint64_t at;
    uint16_t count, each;

    memcpy(&magic, p, sizeof(magic));
    if (magic == 0x466243b1) { /* __fatBinC_Wrapper_t: magic, version, data */
        memcpy(&p, p + 8, sizeof(p));
        memcpy(&magic, p, sizeof(magic));
    }
    *n = 0;
    if (magic == 0xba55ed50) {
        memcpy(&each, p + 6, sizeof(each)); /* of its head */
        memcpy(&at, p + 8, sizeof(at));
        *n = at + each;
        *kind = "fatbin";
    } else if (!memcmp(p, "\177ELF", 4)) {
        memcpy(&at, p + 40, sizeof(at)); /* e_shoff, e_shentsize, e_shnum */
        memcpy(&each, p + 58, sizeof(each));
        memcpy(&count, p + 60, sizeof(count));
        *n = at + (size_t)each * count;
        *kind = "cubin";
    } else if (magic >= 0x09090909 && (*p == '.' || *p == '/' || *p == '\n' || *p == ' ')) {
        *n = strnlen((const char *)p, IMAGE_MOST);
        *kind = "ptx";
    }
    return p;
}

void keep_image(void *handle, const void *image)
{
    struct image kept = {.handle = handle};
    const char *kind = "";
    struct image *more;

    if (!keep_active() || !image || !table())
        return;
    image = image_of(image, &kept.n, &kind);
    if (!kept.n || kept.n > IMAGE_MOST || !(kept.data = malloc(kept.n)))
        return;
    memcpy(kept.data, image, kept.n);
    snprintf(kept.name, sizeof(kept.name), "%016llx%016llx.%s",
             (unsigned long long)hash(0xcbf29ce484222325, image, kept.n),
             (unsigned long long)hash(0x9e3779b97f4a7c15, image, kept.n), kind);
    pthread_mutex_lock(&k.lock);
    if ((more = realloc(k.images, (k.n_images + 1) * sizeof(*more)))) {
        k.images = more;
        k.images[k.n_images++] = kept;
    } else {
        free(kept.data);
    }
    pthread_mutex_unlock(&k.lock);
}

void keep_gone(void *handle)
{
    if (!keep_active())
        return;
    pthread_mutex_lock(&k.lock);
    for (size_t i = 0; i < k.n_images; i++)
        if (k.images[i].handle == handle) {
            free(k.images[i].data);
            k.images[i--] = k.images[--k.n_images];
        }
    memset(k.functions, 0, sizeof(k.functions)); /* their handles may be used anew */
    pthread_mutex_unlock(&k.lock);
}

/* The file with the code of a kernel, written when first asked for. "": not known. */
static const char *image_file(void *function)
{
    const struct calls *c = driver_calls();
    void *module = NULL, *library = NULL;
    char path[4096];

    if (c->function_module && !is_kernel(function))
        c->function_module(&module, function);
    if (c->kernel_library && is_kernel(function))
        c->kernel_library(&library, function);
    for (size_t i = k.n_images; i-- > 0;) {
        struct image *m = &k.images[i];
        if (m->handle != module && m->handle != library)
            continue;
        snprintf(path, sizeof(path), "%s/images", getenv("ASTRA_CAPTURE_DIR"));
        mkdir(path, 0700);
        snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%s", m->name);
        if (m->data && (access(path, F_OK) == 0 || write_all(path, O_TRUNC, m->data, m->n))) {
            free(m->data);
            m->data = NULL;
        }
        return m->data ? "" : m->name;
    }
    return "";
}

/* ---- launches ---- */

static bool matches(const char *name)
{
    for (const char *p = getenv("ASTRA_CAPTURE_KEEP"); p && *p; p += strcspn(p, ","), p += *p == ',') {
        char word[512];
        snprintf(word, sizeof(word), "%.*s", (int)strcspn(p, ","), p);
        if (*word && strstr(name, word))
            return true;
    }
    return false;
}

static bool wanted(void *function, const char **name)
{
    size_t at = (size_t)(hash(1, &function, sizeof(function)) % FUNCTIONS);

    *name = NULL;
    if (k.functions[at].function == function && !k.functions[at].wanted)
        return false;
    if (!(*name = driver_name(function)))
        return false;
    k.functions[at].function = function;
    k.functions[at].wanted = matches(*name);
    return k.functions[at].wanted;
}

struct line {
    char text[LINE];
    size_t n;
};

static void add(struct line *l, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(l->text + l->n, LINE - l->n, fmt, ap);
    va_end(ap);
    l->n = l->n + (size_t)n < LINE ? l->n + (size_t)n : LINE;
}

/* A pointer is what lies in memory that the driver gave out. */
static bool is_pointer(const unsigned char *value, size_t n, uint64_t *offset, uint64_t *extent)
{
    const struct calls *c = driver_calls();
    uint64_t at, base = 0;
    size_t size = 0;

    if (n != 8 || !c->address_range)
        return false;
    memcpy(&at, value, sizeof(at));
    if (at < 4096 || c->address_range(&base, &size, at) != 0 || at < base || at - base >= size)
        return false;
    *offset = at - base;
    *extent = size - *offset;
    return true;
}

/* Adds the parameters, and to *key what is no pointer. */
static void add_parameters(struct line *l, void *function, void **params, void **extra, uint64_t *key)
{
    const struct calls *c = driver_calls();
    int (*info)(void *, size_t, size_t *, size_t *) =
        is_kernel(function) ? c->kernel_param_info : c->param_info;
    const unsigned char *buffer = NULL;
    size_t offset = 0, n = 0;
    uint64_t from, extent;

    for (size_t i = 0; extra && extra[i] && i < 8; i += 2) /* CU_LAUNCH_PARAM_BUFFER_POINTER */
        if (extra[i] == (void *)1)
            buffer = extra[i + 1];
    for (size_t i = 0; i < PARAMETERS; i++) {
        if (!info || info(function, i, &offset, &n) != 0)
            return;
        const unsigned char *value = buffer ? buffer + offset : NULL;
        if (params)
            value = params[i];
        if (!value || n > 4096)
            return;
        add(l, "%s{\"offset\": %zu, \"bytes\": %zu, ", i ? ", " : "", offset, n);
        if (is_pointer(value, n, &from, &extent)) {
            add(l, "\"pointer\": true, \"from_base\": %llu, \"extent\": %llu}", (unsigned long long)from,
                (unsigned long long)extent);
            continue;
        }
        *key = hash(*key, value, n);
        add(l, "\"value\": \"");
        for (size_t b = 0; b < n; b++)
            add(l, "%02x", value[b]);
        add(l, "\"}");
    }
}

static void add_head(struct line *l, const char *name, const struct shape *s)
{
    add(l, "{\"kernel\": \"");
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p >= ' ' && *p != '"' && *p != '\\')
            add(l, "%c", *p);
    add(l, "\", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"dynamic_shared_bytes\": %u, \"device\": %u",
        s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2], s->dynamic_bytes, s->device);
}

static void add_attributes(struct line *l, void *function)
{
    static const struct {
        const char *name;
        int id;
    } list[] = {{"registers", 4}, {"static_shared_bytes", 1}, {"local_bytes", 3}, {"max_threads", 0}};
    const struct calls *c = driver_calls();
    int value;

    for (size_t i = 0; c->function_attribute && !is_kernel(function) && i < sizeof(list) / sizeof(*list); i++)
        if (c->function_attribute(&value, list[i].id, function) == 0)
            add(l, ", \"%s\": %d", list[i].name, value);
}

void keep_launch(void *function, const struct shape *s, void **params, void **extra)
{
    static struct line l; /* under the lock */
    uint64_t key;
    const char *name;
    char path[4096];
    unsigned i;

    pthread_mutex_lock(&k.lock);
    if (!k.broken && k.n < MOST && k.looked_at < LOOKED_AT && wanted(function, &name)) {
        k.looked_at++;
        l.n = 0;
        key = hash(hash(7, s, sizeof(*s)), name, strlen(name));
        add_head(&l, name, s);
        add_attributes(&l, function);
        add(&l, ", \"parameters\": [");
        add_parameters(&l, function, params, extra, &key);
        for (i = 0; i < k.n && k.seen[i] != key; i++)
            ;
        if (i == k.n) {
            k.seen[k.n++] = key;
            add(&l, "], \"image\": \"%s\"}\n", image_file(function));
            snprintf(path, sizeof(path), "%s/%ld" CAPTURE_KEPT, getenv("ASTRA_CAPTURE_DIR"), (long)getpid());
            k.broken = l.n >= LINE || !write_all(path, O_APPEND, l.text, l.n);
        }
    }
    pthread_mutex_unlock(&k.lock);
}

void keep_forget(void)
{
    pthread_mutex_init(&k.lock, NULL);
    k.n = k.looked_at = 0;
    k.broken = false;
}
