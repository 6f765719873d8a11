/* NVRTC with a memory, for tests: what it made of a text is kept in a file under the hash of everything that
 * the result depends on (the compiler's version, options, the text, its headers, the names asked for), and a
 * text that comes again, in this process or another, is not compiled again. ASTRA_NVRTC names this library,
 * REMEMBERED_COMPILES the file. The compiler itself is found as the product finds it.
 *
 * The file is mapped when the library is loaded, before a worker gives up its files. It holds a table of places
 * and the results, which are only ever added: a process that is killed meanwhile leaves a gap, no half result.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu/internal.h"

#define EXPORT __attribute__((visibility("default")))

enum {
    COMPILED = 0,
    NO_MEMORY = 1,
    UNUSABLE = 11,
    REFUSED = 6,
    KEY = 64,
    SLOTS = 1 << 16,
    LARGEST = 8 << 20,
    PARTS = 3
};
#define FILE_BYTES ((size_t)480 << 20) /* less than a worker may write */

struct result { /* with its parts behind it: log, PTX, CUBIN; then a lowered name for each name, NUL-terminated
                 */
    char key[KEY];
    int code;
    uint32_t n_names;
    uint64_t size[PARTS], names_size;
};

struct memory {
    _Atomic uint64_t end; /* bytes in use */
    _Atomic uint64_t place[SLOTS];
};

struct nvrtc_program_ {
    struct arena *arena;
    struct str question; /* all that the result depends on */
    VEC(const char *) names;
    nvrtc_program real;
    const struct result *known;
};

static struct nvrtc *nvrtc;
static struct memory *memory;

static struct memory *map_memory(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    struct memory *m = MAP_FAILED;
    uint64_t nothing = 0;

    if (fd >= 0 && ftruncate(fd, (off_t)FILE_BYTES) == 0)
        m = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (m == MAP_FAILED)
        return NULL;
    atomic_compare_exchange_strong(&m->end, &nothing, sizeof(*m));
    return m;
}

/* A full file is given up for a new one; whoever has it mapped keeps it. */
static void open_memory(const char *path)
{
    struct arena *a = arena_open();
    struct err err;

    if (fs_mkdirs(fs_dirname(a, path), &err))
        memory = map_memory(path);
    if (memory && atomic_load(&memory->end) > FILE_BYTES / 10 * 9) {
        munmap(memory, FILE_BYTES);
        unlink(path);
        memory = map_memory(path);
    }
    arena_close(a);
}

/* The compiler itself, and its headers for whoever loads us: they are looked for beside this library otherwise.
 */
__attribute__((constructor)) static void begin(void)
{
    const char *own = getenv("ASTRA_NVRTC");
    char *before = own ? mem_strdup(own) : NULL;
    struct err err;

    unsetenv("ASTRA_NVRTC");
    if (!nvrtc_open(&nvrtc, &err))
        nvrtc = NULL;
    if (before)
        setenv("ASTRA_NVRTC", before, 1);
    free(before);
    if (nvrtc && nvrtc->include_dir[0])
        setenv("ASTRA_CUDA_INCLUDE", nvrtc->include_dir, 0);
    if (nvrtc && getenv("REMEMBERED_COMPILES"))
        open_memory(getenv("REMEMBERED_COMPILES"));
}

static void add_part(struct str *s, const char *text)
{
    str_addf(s, "%zu:", strlen(text));
    str_add(s, text);
}

/* ---- the memory ---- */

static const char *part_of(const struct result *r, int part)
{
    const char *p = (const char *)(r + 1);

    for (int i = 0; i < part; i++)
        p += r->size[i];
    return p;
}

static const struct result *recall(const char *key)
{
    uint64_t place;

    for (size_t i = strtoul((char[]){key[0], key[1], key[2], key[3], 0}, NULL, 16); memory;
         i = (i + 1) % SLOTS) {
        if (!(place = atomic_load(&memory->place[i])))
            return NULL;
        const struct result *r = (const void *)((const char *)memory + place);
        if (!memcmp(r->key, key, KEY))
            return r;
    }
    return NULL;
}

static void publish(const char *key, uint64_t place)
{
    size_t i = strtoul((char[]){key[0], key[1], key[2], key[3], 0}, NULL, 16);

    for (size_t tries = 0; tries < SLOTS; tries++, i = (i + 1) % SLOTS) {
        uint64_t nothing = 0;
        if (atomic_compare_exchange_strong(&memory->place[i], &nothing, place))
            return;
    }
}

/* A result that depends on more than its question, or that is a test by its size, is not kept. */
static void keep(nvrtc_program p, const char *key, int code)
{
    struct result r = {.code = code, .n_names = (uint32_t)p->names.n};
    const char *lowered = NULL;
    struct str names = {0};
    size_t size[PARTS] = {0};
    bool ok = memory && (code == COMPILED || code == REFUSED) && nvrtc->log_size(p->real, &size[0]) == 0;

    if (ok && code == COMPILED)
        ok = nvrtc->ptx_size(p->real, &size[1]) == 0 && nvrtc->cubin_size(p->real, &size[2]) == 0;
    for (size_t i = 0; ok && code == COMPILED && i < p->names.n; i++) {
        ok = nvrtc->lowered_name(p->real, p->names.v[i], &lowered) == 0;
        if (ok)
            str_addf(&names, "%s", lowered), str_addc(&names, 0);
    }
    memcpy(r.key, key, KEY);
    r.names_size = names.len;
    uint64_t whole = sizeof(r) + names.len;
    for (int i = 0; i < PARTS; i++)
        whole += r.size[i] = size[i];
    whole = (whole + 15) / 16 * 16;
    if (ok && whole < LARGEST) {
        uint64_t place = atomic_fetch_add(&memory->end, whole);
        char *to = (char *)memory + place, *parts = to + sizeof(r);
        if (place + whole <= FILE_BYTES) {
            memcpy(to, &r, sizeof(r));
            ok = nvrtc->log(p->real, parts) == 0 && !strstr(parts, "unable to obtain mapped memory");
            if (ok && code == COMPILED)
                ok = nvrtc->ptx(p->real, parts + size[0]) == 0 &&
                     nvrtc->cubin(p->real, parts + size[0] + size[1]) == 0;
            memcpy(parts + size[0] + size[1] + size[2], str_text(&names), names.len);
            if (ok)
                publish(key, place);
        }
    }
    str_free(&names);
}

/* ---- NVRTC's functions ---- */

EXPORT int nvrtcVersion(int *major, int *minor)
{
    return nvrtc ? nvrtc->version(major, minor) : UNUSABLE;
}

EXPORT const char *nvrtcGetErrorString(int code)
{
    return nvrtc->error_string(code);
}

EXPORT int nvrtcGetNumSupportedArchs(int *n)
{
    return nvrtc->n_archs ? nvrtc->n_archs(n) : UNUSABLE;
}

EXPORT int nvrtcGetSupportedArchs(int *archs)
{
    return nvrtc->archs ? nvrtc->archs(archs) : UNUSABLE;
}

EXPORT int nvrtcCreateProgram(nvrtc_program *out, const char *text, const char *name, int n_headers,
                              const char *const *headers, const char *const *names)
{
    struct arena *a = arena_open();
    nvrtc_program p = arena_zalloc(a, sizeof(*p));

    p->arena = a;
    str_addf(&p->question, "%d.%d %s ", nvrtc->major, nvrtc->minor, nvrtc->path);
    add_part(&p->question, text);
    add_part(&p->question, name);
    for (int i = 0; i < n_headers; i++) {
        add_part(&p->question, names[i]);
        add_part(&p->question, headers[i]);
    }
    *out = p;
    return nvrtc->create(&p->real, text, name, n_headers, headers, names);
}

EXPORT int nvrtcDestroyProgram(nvrtc_program *program)
{
    nvrtc_program p = *program;

    *program = NULL;
    if (!p)
        return 0;
    int code = nvrtc->destroy(&p->real);
    str_free(&p->question);
    vec_free(&p->names);
    arena_close(p->arena);
    return code;
}

EXPORT int nvrtcAddNameExpression(nvrtc_program p, const char *expression)
{
    vec_push(&p->names, arena_strdup(p->arena, expression));
    str_add(&p->question, " name ");
    add_part(&p->question, expression);
    return nvrtc->add_name(p->real, expression);
}

EXPORT int nvrtcCompileProgram(nvrtc_program p, int n, const char *const *options)
{
    char key[KEY + 1];

    for (int i = 0; i < n; i++) {
        str_add(&p->question, " option ");
        add_part(&p->question, options[i]);
    }
    hash_sha256_hex(str_text(&p->question), p->question.len, key);
    if ((p->known = recall(key)))
        return p->known->code;
    int code = nvrtc->compile(p->real, n, options);
    keep(p, key, code);
    return code;
}

EXPORT int nvrtcGetLoweredName(nvrtc_program p, const char *expression, const char **lowered)
{
    if (!p->known)
        return nvrtc->lowered_name(p->real, expression, lowered);
    *lowered = part_of(p->known, PARTS);
    for (size_t i = 0; i < p->names.n; i++, *lowered += strlen(*lowered) + 1)
        if (str_eq(p->names.v[i], expression))
            return 0;
    return UNUSABLE;
}

static int size_of(nvrtc_program p, int part, int (*real)(nvrtc_program, size_t *), size_t *size)
{
    if (!p->known)
        return real(p->real, size);
    *size = p->known->size[part];
    return 0;
}

static int text_of(nvrtc_program p, int part, int (*real)(nvrtc_program, char *), char *text)
{
    if (!p->known)
        return real(p->real, text);
    memcpy(text, part_of(p->known, part), p->known->size[part]);
    return 0;
}

EXPORT int nvrtcGetProgramLogSize(nvrtc_program p, size_t *size)
{
    return size_of(p, 0, nvrtc->log_size, size);
}

EXPORT int nvrtcGetProgramLog(nvrtc_program p, char *log)
{
    return text_of(p, 0, nvrtc->log, log);
}

EXPORT int nvrtcGetPTXSize(nvrtc_program p, size_t *size)
{
    return size_of(p, 1, nvrtc->ptx_size, size);
}

EXPORT int nvrtcGetPTX(nvrtc_program p, char *ptx)
{
    return text_of(p, 1, nvrtc->ptx, ptx);
}

EXPORT int nvrtcGetCUBINSize(nvrtc_program p, size_t *size)
{
    return size_of(p, 2, nvrtc->cubin_size, size);
}

EXPORT int nvrtcGetCUBIN(nvrtc_program p, char *cubin)
{
    return text_of(p, 2, nvrtc->cubin, cubin);
}
