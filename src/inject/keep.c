/* Launches of chosen kernels, kept: a line of JSON each in PID-N.launches, with the parameters by the kernel's
 * own layout, and the code that the kernel came from in images/. A launch is kept when its shape and its
 * parameters that are no pointers are new; at most MOST of a process. Of pointers only how much memory there is
 * is looked at, unless ASTRA_CAPTURE_CONTENTS asks for what it holds: then also once more, later. */
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

enum {
    MOST = 256,
    FUNCTIONS = 4096,
    PARAMETERS = 128,
    LINE = 64 << 10,
    LOOKED_AT = 4096,
    LATER = 17, /* which launch of those alike has its contents kept once more: the first may be a warm-up */
    TABLE = 64, /* pointers in a table of them */
    IN_STRUCT = -1
};
#define IMAGE_MOST ((size_t)64 << 20)

struct image {
    void *handle; /* the module or library */
    unsigned char *data;
    size_t n;
    char name[48]; /* of its file; "": not written */
};

static struct {
    pthread_mutex_t lock;
    uint64_t seen[MOST];  /* hashes of what is kept */
    unsigned times[MOST]; /* how often each came */
    unsigned n, looked_at;
    bool busy; /* a thread waits for a stream: others do not wait for it */
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
        known = (getenv("ASTRA_CAPTURE_KEEP") && *getenv("ASTRA_CAPTURE_KEEP")) ||
                (getenv("ASTRA_CAPTURE_CONTENTS") && *getenv("ASTRA_CAPTURE_CONTENTS"));
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

bool keep_write(const char *path, const void *data, size_t n)
{
    return write_all(path, O_TRUNC, data, n);
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
    capture_content_name(kept.name, image, kept.n);
    snprintf(kept.name + strlen(kept.name), sizeof(kept.name) - strlen(kept.name), ".%s", kind);
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
static void image_file(void *function, char name[48])
{
    const struct calls *c = driver_calls();
    void *module = NULL, *library = NULL;
    char path[4096];

    name[0] = 0;
    if (c->function_module && !is_kernel(function))
        c->function_module(&module, function);
    if (c->kernel_library && is_kernel(function))
        c->kernel_library(&library, function);
    pthread_mutex_lock(&k.lock);
    for (size_t i = k.n_images; i-- > 0 && !name[0];) {
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
        if (m->data)
            break;
        snprintf(name, sizeof(m->name), "%s", m->name);
    }
    pthread_mutex_unlock(&k.lock);
}

/* ---- launches ---- */

static bool matches(const char *variable, const char *name)
{
    for (const char *p = getenv(variable); p && *p; p += strcspn(p, ","), p += *p == ',') {
        char word[512];
        snprintf(word, sizeof(word), "%.*s", (int)strcspn(p, ","), p);
        if (*word && strstr(name, word))
            return true;
    }
    return false;
}

static bool wanted(void *function, const char **name)
{
    size_t at = (size_t)(capture_hash(1, &function, sizeof(function)) % FUNCTIONS);

    *name = NULL;
    if (k.functions[at].function == function && !k.functions[at].wanted)
        return false;
    if (!(*name = driver_name(function)))
        return false;
    k.functions[at].function = function;
    k.functions[at].wanted = matches("ASTRA_CAPTURE_KEEP", *name) || matches("ASTRA_CAPTURE_CONTENTS", *name);
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

bool keep_is_pointer(uint64_t at, uint64_t *offset, uint64_t *extent)
{
    const struct calls *c = driver_calls();
    uint64_t base = 0;
    size_t size = 0;

    if (!c->address_range || at < 4096 || c->address_range(&base, &size, at) != 0 || at < base ||
        at - base >= size)
        return false;
    *offset = at - base;
    *extent = size - *offset;
    return true;
}

static bool word_is_pointer(const unsigned char *value, uint64_t *at, uint64_t *offset, uint64_t *extent)
{
    memcpy(at, value, sizeof(*at));
    return keep_is_pointer(*at, offset, extent);
}

static void add_inner(struct line *l, struct contents *b, const unsigned char *bytes, size_t n, int depth);

/* What a pointer says of itself, and, to a depth, the pointers in a table of such that it points to. */
static void add_pointer(struct line *l, struct contents *b, uint64_t at, int depth)
{
    uint64_t offset = 0, extent = 0;
    struct kept_bytes bytes = {0};
    unsigned char *data = NULL;

    if (keep_is_pointer(at, &offset, &extent) && b->active)
        data = contents_keep(b, at, extent, &bytes);
    add(l, "\"from_base\": %llu, \"extent\": %llu", (unsigned long long)offset, (unsigned long long)extent);
    if (data) {
        add(l, ", \"contents\": \"%s\", \"contents_bytes\": %llu", bytes.name, (unsigned long long)bytes.n);
        if (depth)
            add_inner(l, b, data, bytes.n < 8 * TABLE ? bytes.n : 8 * TABLE, depth - 1);
    }
    free(data);
}

/* Pointers among the words of bytes: [{"at": 8, ...}]. Of a table, from its first word on while all are such.
 */
static void add_inner(struct line *l, struct contents *b, const unsigned char *bytes, size_t n, int depth)
{
    const bool is_struct = depth == IN_STRUCT;
    uint64_t at, offset, extent;
    unsigned found = 0;

    for (size_t i = 0; i + 8 <= n && found < TABLE; i += 8) {
        if (!word_is_pointer(bytes + i, &at, &offset, &extent)) {
            if (!is_struct)
                break;
            continue;
        }
        add(l, "%s{\"at\": %zu, ", found++ ? ", " : ", \"inner\": [", i);
        add_pointer(l, b, at, is_struct ? 1 : depth);
        add(l, "}");
    }
    add(l, found ? "]" : "");
}

static void add_value(struct line *l, struct contents *b, const unsigned char *value, size_t n, uint64_t *key)
{
    uint64_t at, offset, extent;

    add(l, "\"value\": \"");
    for (size_t i = 0; i < n; i++)
        add(l, "%02x", value[i]);
    add(l, "\"");
    for (size_t i = 0; i < n; i += 8) { /* where memory lies says nothing of a launch */
        size_t bytes = n - i < 8 ? n - i : 8;
        if (n <= 8 || bytes < 8 || !word_is_pointer(value + i, &at, &offset, &extent))
            *key = capture_hash(*key, value + i, bytes);
    }
    if (n > 8)
        add_inner(l, b, value, n, IN_STRUCT);
    add(l, "}");
}

/* Adds the parameters, and to *key what is no pointer. */
static void add_parameters(struct line *l, struct contents *b, const struct keep_call *call, uint64_t *key)
{
    const struct calls *c = driver_calls();
    int (*info)(void *, size_t, size_t *, size_t *) =
        is_kernel(call->function) ? c->kernel_param_info : c->param_info;
    const unsigned char *buffer = NULL;
    size_t offset = 0, n = 0;
    uint64_t at, from, extent;

    for (size_t i = 0; call->extra && call->extra[i] && i < 8; i += 2) /* CU_LAUNCH_PARAM_BUFFER_POINTER */
        if (call->extra[i] == (void *)1)
            buffer = call->extra[i + 1];
    for (size_t i = 0; i < PARAMETERS; i++) {
        if (!info || info(call->function, i, &offset, &n) != 0)
            return;
        const unsigned char *value = buffer ? buffer + offset : NULL;
        if (call->params)
            value = call->params[i];
        if (!value || n > 4096)
            return;
        add(l, "%s{\"offset\": %zu, \"bytes\": %zu, ", i ? ", " : "", offset, n);
        if (n == 8 && word_is_pointer(value, &at, &from, &extent)) {
            add(l, "\"pointer\": true, ");
            add_pointer(l, b, at, 1);
            add(l, "}");
            continue;
        }
        add_value(l, b, value, n, key);
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

/* Whether it is one more whose contents are to be kept. */
static bool is_new(const struct keep_call *call, const char *name, bool contents)
{
    static struct line unused;
    struct contents none = {0};
    uint64_t key = capture_hash(capture_hash(7, call->shape, sizeof(*call->shape)), name, strlen(name));
    unsigned i;

    unused.n = 0;
    add_parameters(&unused, &none, call, &key);
    for (i = 0; i < k.n && k.seen[i] != key; i++)
        ;
    if (i == k.n) {
        k.seen[k.n] = key;
        k.times[k.n++] = 1;
        return true;
    }
    return ++k.times[i] == LATER && contents;
}

static void keep(const struct keep_call *call, const char *name, bool with_contents)
{
    static struct line l; /* of the one that is busy */
    struct contents contents = {0};
    uint64_t unused = 0;
    const char *why = with_contents ? contents_begin(&contents, name, call->stream, call->cooperative) : NULL;
    char path[4096], image[48];

    l.n = 0;
    add_head(&l, name, call->shape);
    add_attributes(&l, call->function);
    if (call->cooperative)
        add(&l, ", \"cooperative\": true");
    add(&l, ", \"parameters\": [");
    add_parameters(&l, &contents, call, &unused);
    add(&l, "]");
    if (why)
        add(&l, ", \"without_contents\": \"%s\"", why);
    if (with_contents)
        contents_end(&contents);
    image_file(call->function, image);
    add(&l, ", \"image\": \"%s\"}\n", image);
    snprintf(path, sizeof(path), "%s/%ld" CAPTURE_KEPT, getenv("ASTRA_CAPTURE_DIR"), (long)getpid());
    k.broken = l.n >= LINE || !write_all(path, O_APPEND, l.text, l.n);
}

void keep_launch(const struct keep_call *call)
{
    const char *name;
    bool contents, fresh = false;

    pthread_mutex_lock(&k.lock);
    if (!k.busy && !k.broken && k.n < MOST && k.looked_at < LOOKED_AT && wanted(call->function, &name)) {
        k.looked_at++;
        contents = matches("ASTRA_CAPTURE_CONTENTS", name);
        fresh = k.busy = is_new(call, name, contents);
    }
    pthread_mutex_unlock(&k.lock);
    if (!fresh)
        return;
    keep(call, name, contents);
    pthread_mutex_lock(&k.lock);
    k.busy = false;
    pthread_mutex_unlock(&k.lock);
}

void keep_forget(void)
{
    pthread_mutex_init(&k.lock, NULL);
    k.n = k.looked_at = 0;
    k.broken = k.busy = false;
    contents_forget();
}
