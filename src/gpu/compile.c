/* One compile: the device part of a kernel file to PTX and CUBIN, with what ptxas says of registers and memory.
 */
#include "internal.h"

#include <ctype.h>

enum { STATIC_SHARED_MOST = 48 << 10 };

/* Options of a task that reach the compiler. They change what the device code means, so original and candidate
 * get the same. */
static const struct {
    const char *name, *values; /* values: NULL none, "" a number, else a list */
    const char *option; /* NVRTC's spelling; NULL: accepted for nvcc's sake, no meaning for device code here */
} flag_table[] = {
    {"use_fast_math", NULL, "--use_fast_math"},
    {"fmad", "true|false", "--fmad"},
    {"ftz", "true|false", "--ftz"},
    {"prec-div", "true|false", "--prec-div"},
    {"prec-sqrt", "true|false", "--prec-sqrt"},
    {"maxrregcount", "", "--maxrregcount"},
    {"std", "c++03|c++11|c++14|c++17|c++20", "--std"},
    {"extra-device-vectorization", NULL, "--extra-device-vectorization"},
    {"expt-relaxed-constexpr", NULL, NULL},
    {"expt-extended-lambda", NULL, NULL},
    {"extended-lambda", NULL, NULL},
    {"lineinfo", NULL, NULL},
    {"generate-line-info", NULL, NULL},
    {"O1", NULL, NULL},
    {"O2", NULL, NULL},
    {"O3", NULL, NULL},
};

static bool value_allowed(const char *value, const char *values)
{
    size_t len = strlen(value);

    if (!*values)
        return len > 0 && len < 5 && strspn(value, "0123456789") == len;
    return str_in(value, values);
}

static bool define_allowed(const char *d)
{
    size_t n = 0;

    while (isalnum((unsigned char)d[n]) || d[n] == '_')
        n++;
    return n && !isdigit((unsigned char)d[0]) && (d[n] == 0 || d[n] == '=') && strncmp(d, "__", 2) != 0;
}

bool gpu_flag_check(struct arena *a, const char *flag, const char **option, struct err *err)
{
    const char *name = flag + strspn(flag, "-");
    char *key = arena_strndup(a, name, strcspn(name, "="));
    const char *value = name[strlen(key)] == '=' ? name + strlen(key) + 1 : NULL;

    *option = NULL;
    if (flag[0] == '-' && flag[1] == 'D' && define_allowed(flag + 2)) {
        *option = flag;
        return true;
    }
    for (size_t i = 0; flag[0] == '-' && i < ARRAY_LEN(flag_table); i++) {
        if (strcmp(key, flag_table[i].name) != 0)
            continue;
        if (!flag_table[i].values && value)
            return err_input(err, "flag %s takes no value", flag);
        if (flag_table[i].values && (!value || !value_allowed(value, flag_table[i].values)))
            return err_input(err, "flag %s needs =%s", flag,
                             *flag_table[i].values ? flag_table[i].values : "a number");
        if (flag_table[i].option)
            *option = value ? arena_printf(a, "%s=%s", flag_table[i].option, value) : flag_table[i].option;
        return true;
    }
    return err_input(err,
                     "flag %s is not one of: --use_fast_math --fmad= --ftz= --prec-div= --prec-sqrt= "
                     "--maxrregcount= --std= -DNAME=VALUE",
                     flag);
}

static uint32_t number_before(const char *line, const char *end, const char *what)
{
    const char *p = memmem(line, (size_t)(end - line), what, strlen(what));

    if (!p)
        return 0;
    while (p > line && isdigit((unsigned char)p[-1]))
        p--;
    return (uint32_t)strtoul(p, NULL, 10);
}

/* "ptxas info : Compiling entry function 'X'", then X's lines until the next such header. Device functions that
 * were not inlined have a "Function properties for F" of their own, which must not be taken for the kernel's.
 */
static void parse_resources(const char *log, const char *mangled, struct ptx_resources *r)
{
    bool in_kernel = false, in_properties = false;

    for (const char *line = log; *line;) {
        const char *end = line + strcspn(line, "\n");
        const char *name = memmem(line, (size_t)(end - line), "entry function '", 16);
        const char *properties = memmem(line, (size_t)(end - line), "Function properties for ", 24);
        size_t len = strlen(mangled);
        if (name) {
            name += 16;
            in_kernel = !strncmp(name, mangled, len) && name[len] == '\'';
        } else if (properties) {
            properties += 24;
            in_properties =
                in_kernel && !strncmp(properties, mangled, len) && (size_t)(end - properties) == len;
        } else if (in_properties && memmem(line, (size_t)(end - line), "stack frame", 11)) {
            r->stack_bytes = number_before(line, end, " bytes stack frame");
            r->spill_store_bytes = number_before(line, end, " bytes spill stores");
            r->spill_load_bytes = number_before(line, end, " bytes spill loads");
        } else if (in_kernel && memmem(line, (size_t)(end - line), " registers", 10)) {
            r->registers = number_before(line, end, " registers");
            r->shared_bytes = number_before(line, end, " bytes smem");
        }
        line = end + (*end == '\n');
    }
}

/* "PATH(LINE): error: words" as "words: the source line" that the log quotes below it; the line's number, 0
 * where the error is not in this file. */
static const char *error_words(struct arena *a, const char *error, const char *path, int *line)
{
    size_t len = strcspn(error, "\n"), path_len = strlen(path);
    const char *end = error + len;
    const char *after =
        strncmp(error, path, path_len) == 0 && error[path_len] == '(' ? memmem(error, len, ": ", 2) : NULL;
    const char *words = after ? after + 2 : error;
    const char *text = arena_strndup(a, words, MIN((size_t)(end - words), 1000));

    *line = after ? atoi(error + path_len + 1) : 0;
    if (after && *end) {
        const char *quote = end + 1 + strspn(end + 1, " \t");
        size_t quote_len = strcspn(quote, "\n");
        if (quote_len && quote_len < 200)
            text = arena_printf(a, "%s: %.*s", text, (int)quote_len, quote);
    }
    return text;
}

/* The log's first error, and up to two more of the same file; the lines of all. */
void compile_errors(struct arena *a, const char *log, const char *path, struct compile_result *r)
{
    enum { MOST = 3 };
    const char *line = log;
    VEC(int) lines = {0};
    int n = 0;

    for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        int number;
        if (!memmem(line, strcspn(line, "\n"), "error", 5) ||
            memmem(line, strcspn(line, "\n"), "): warning ", 11))
            continue;
        const char *words = error_words(a, line, path, &number);
        if (number > 0)
            vec_add(a, &lines, number);
        if (n == MOST)
            continue;
        if (n == 0) {
            r->line = number;
            r->words = words;
        } else if (number > 0) {
            r->words = arena_printf(a, "%s; line %d: %s", r->words, number, words);
        } else {
            continue;
        }
        n++;
    }
    r->lines = lines.v;
    r->n_lines = lines.n;
    if (n > 0)
        return;
    /* The one complaint of ptxas that NVRTC keeps to itself. */
    for (line = log; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        uint32_t shared = number_before(line, line + strcspn(line, "\n"), " bytes smem");
        if (shared > STATIC_SHARED_MOST) {
            r->words =
                arena_printf(a,
                             "%u bytes of static shared memory: a kernel may declare at most %d; more must be "
                             "dynamic (extern __shared__) and asked for with cudaFuncSetAttribute",
                             shared, STATIC_SHARED_MOST);
            return;
        }
    }
    r->words =
        *log ? arena_strndup(a, log, MIN(strlen(log), (size_t)1000)) : "the compiler refused it without a word";
}

/* NVRTC has no --extended-lambda, and needs none: all that it is given is the device's. So the words that the
 * option allows behind a lambda's captures are blanked. */
static const char *plain_lambdas(struct arena *a, const struct compile_request *q, const char *text)
{
    char *plain = NULL;

    for (size_t i = 0; i < q->n_flags && !plain; i++)
        if (str_in(q->flags[i] + strspn(q->flags[i], "-"), "extended-lambda|expt-extended-lambda"))
            plain = arena_strdup(a, text);
    for (char *p = plain; p && (p = strchr(p, ']'));) {
        bool captures = p[1] != ']' && (p == plain || p[-1] != ']'); /* and no attribute's */
        for (p++; captures; p += strcspn(p, " ")) {
            p += strspn(p, " \t\r\n");
            if (!str_starts(p, "__device__") && !str_starts(p, "__host__"))
                break;
            memset(p, ' ', str_starts(p, "__device__") ? strlen("__device__") : strlen("__host__"));
        }
    }
    return plain ? plain : text;
}

typedef VEC(const char *) names_vec;

enum { FAILED = 6 /* NVRTC_ERROR_COMPILATION */, FIRST_ALONE = 2 };

/* How cuda::barrier and cuda::pipeline wait, but for the clock that they read to pause ever longer: no kernel
 * may read one, and what is waited for does not depend on it. NULL: the toolkit has no such header. */
#define WAITING "cuda/std/__thread/threading_support.h"
static const char *waiting_header(const struct nvrtc *n, struct arena *a)
{
    static const char clock[] = "high_resolution_clock::now()", none[] = "high_resolution_clock::time_point()";
    const char *path = arena_printf(a, "%s/cccl/" WAITING, n->include_dir);
    struct err ignored = {0};
    struct str s = {0};
    char *text;

    if (!n->include_dir[0] || !fs_exists(path) || !fs_read(a, path, &text, NULL, &ignored))
        return NULL;
    for (const char *p = text; *p;) {
        bool hit = str_starts(p, clock);
        str_addf(&s, "%.*s", hit ? (int)strlen(none) : 1, hit ? none : p);
        p += hit ? strlen(clock) : 1;
    }
    const char *out = arena_strdup(a, str_text(&s));
    str_free(&s);
    return out;
}

static const char **collect_headers(const struct nvrtc *nvrtc, struct arena *a, const struct compile_request *q,
                                    const char ***names, int *count)
{
    const char **texts = arena_array(a, const char *, share_n_files + q->n_headers + 1);
    const char *waiting = strstr(q->text, "<cuda/") ? waiting_header(nvrtc, a) : NULL;
    size_t n = 0;

    *names = arena_array(a, const char *, share_n_files + q->n_headers + 1);
    if (waiting) {
        texts[n] = waiting;
        (*names)[n++] = WAITING;
    }
    for (size_t i = 0; i < q->n_headers; i++, n++) {
        texts[n] = plain_lambdas(a, q, q->headers[i].text);
        (*names)[n] = q->headers[i].name;
    }
    for (size_t i = 0; i < share_n_files; i++) {
        if (!str_starts(share_files[i].name, SHIMS))
            continue;
        texts[n] = share_files[i].text;
        (*names)[n++] = share_files[i].name + strlen(SHIMS);
    }
    *count = (int)n;
    return texts;
}

/* A megabyte of templates. */
static bool is_heavy(const struct compile_request *q)
{
    return strstr(q->text, "cooperative_groups") || strstr(q->text, "<cuda/") || strstr(q->text, "<cub/") ||
           strstr(q->text, "curand");
}

/* What other files begin with as well is compiled once, where there will be others: that takes as long as two
 * of them save, but for what is heavy. A shadow is one of its kind. */
static bool precompiles(const struct nvrtc *n, const struct compile_request *q)
{
    return n->major >= 13 && !n->alone && !q->shadow && (is_heavy(q) || n->compiled >= FIRST_ALONE);
}

/* Is the word one of the host's constants, of which NVRTC makes variables of the device and nvcc makes none? No
 * macro, and nothing that is declared for the device. */
static bool is_host_constant(const char *text, const char *word)
{
    static const char *const device[] = {"__device__", "__constant__", "__managed__"};
    const char *s = text;

    for (; (s = str_find_word(text, s, word)); s += strlen(word)) {
        const char *line = s, *from = s, *behind = s + strlen(word);
        while (line > text && line[-1] != '\n')
            line--;
        while (from > text && !strchr(";{}", from[-1]))
            from--;
        if (line[strspn(line, " \t")] == '#')
            return false;
        for (size_t k = 0; k < ARRAY_LEN(device) && strchr("=;[{", behind[strspn(behind, " \t\n")]); k++)
            if (memmem(from, (size_t)(s - from), device[k], strlen(device[k])))
                return false;
    }
    return str_has_word(text, word);
}

const char *gpu_arch_of(struct arena *a, const struct compile_request *q)
{
    static const char *const words[] = {"wgmma", "setmaxnreg", "tensormap"};
    bool own = false;
    for (size_t k = 0; k < ARRAY_LEN(words); k++) {
        own |= str_has_word(q->text, words[k]);
        for (size_t h = 0; h < q->n_headers; h++)
            own |= str_has_word(q->headers[h].text, words[k]);
    }
    return own && str_eq(q->arch, "sm_90") ? arena_strdup(a, "sm_90a") : q->arch;
}

static bool collect_options(const struct nvrtc *n, struct arena *a, const struct compile_request *q,
                            names_vec *options, struct err *err)
{
    const char *arch = gpu_arch_of(a, q);
    if (q->ptx_alone)
        arch = arena_printf(a, "compute%s", strchr(arch, '_'));
    vec_push(options, arena_printf(a, "--gpu-architecture=%s", arch));
    vec_push(options, "--device-as-default-execution-space");
    vec_push(options, "--generate-line-info");
    vec_push(options, "--ptxas-options=-v");
    vec_push(options, "--pre-include=cuda_runtime.h");
    if (n->include_dir[0]) {
        vec_push(options, arena_printf(a, "--include-path=%s", n->include_dir));
        vec_push(options, arena_printf(a, "--include-path=%s/cccl", n->include_dir));
    }
    if (is_heavy(q)) {
        vec_push(options, "-DASTRA_CCCL"); /* see share/shims/cstdint */
    } else if (strstr(q->text, "cuda_pipeline") || strstr(q->text, "cuda_awbarrier")) {
        vec_push(options, "-DASTRA_PIPELINE");
    }
    /* CUDA 13.0's ptxas takes a variable of this name for its own mark of shared memory: addresses of shared
     * memory become the variable's, or it crashes. */
    bool taken = is_host_constant(q->text, "SMEM");
    for (size_t h = 0; h < q->n_headers; h++)
        taken |= is_host_constant(q->headers[h].text, "SMEM");
    if (taken)
        vec_push(options, "-DSMEM=SMEM_of_the_file");
    for (size_t i = 0; i < q->n_flags; i++) {
        const char *option;
        if (!gpu_flag_check(a, q->flags[i], &option, err))
            return false;
        if (option && !(q->shadow && str_eq(option, "--use_fast_math")))
            vec_push(options, option);
    }
    if (q->shadow)
        vec_push(options, "--relocatable-device-code=true");
    return true;
}

static bool take(int (*size_of)(nvrtc_program, size_t *), int (*get)(nvrtc_program, char *), nvrtc_program p,
                 struct arena *a, char **data, size_t *size)
{
    if (size_of(p, size) != 0)
        return false;
    *data = arena_alloc(a, *size + 1);
    (*data)[*size] = 0;
    return get(p, *data) == 0;
}

/* `norm` and `any` are functions of the headers, too, and NVRTC cannot tell which is meant. Such a kernel,
 * which is no template, is compiled all the same, and its entry has the name. NULL: there is none, or more than
 * one. */
static const char *entry_named(struct arena *a, const char *ptx, const char *name)
{
    const char *const heads[] = {"_Z", "_ZL"};
    const char *found = NULL;

    for (const char *p = ptx; (p = strstr(p, ".entry ")); p++) {
        const char *at = p + strlen(".entry ");
        char *entry = arena_strndup(a, at, strcspn(at, "(\n "));
        bool same = str_eq(entry, name);
        for (size_t i = 0; i < ARRAY_LEN(heads); i++)
            same = same || str_starts(entry, arena_printf(a, "%s%zu%s", heads[i], strlen(name), name));
        if (same && found)
            return NULL;
        found = same ? entry : found;
    }
    return found;
}

/* Which of the request's kernels the log says NVRTC could not tell from other functions; false: none more. */
static bool names_shared(const struct compile_request *q, const char *log, bool *shared)
{
    bool more = false;

    for (size_t i = 0; i < q->n_kernels; i++) {
        char says[256];
        snprintf(says, sizeof(says), "instance of overloaded function \"%s\" is intended", q->kernels[i]);
        if (shared[i] || strpbrk(q->kernels[i], "<:") || !strstr(log, says))
            continue;
        shared[i] = more = true;
    }
    return more;
}

static bool take_image(struct nvrtc *n, struct arena *a, nvrtc_program p, const struct compile_request *q,
                       struct image *image, struct err *err)
{
    struct image_kernel *kernels = arena_array(a, struct image_kernel, q->n_kernels);
    char *ptx, *cubin = NULL;

    if (!take(n->ptx_size, n->ptx, p, a, &ptx, &image->ptx_len) ||
        (!q->ptx_alone && !take(n->cubin_size, n->cubin, p, a, &cubin, &image->cubin_len)))
        return err_world(err, "%s gave no PTX or no CUBIN for %s", n->path, q->path);
    image->ptx = ptx;
    image->cubin = cubin;
    image->ptx_len = strlen(ptx);
    image->kernels = kernels;
    image->n_kernels = q->n_kernels;
    for (size_t i = 0; i < q->n_kernels; i++) {
        const char *lowered = NULL;
        struct cubin_lines found;
        kernels[i].expression = arena_strdup(a, q->kernels[i]);
        if (q->shared_names && q->shared_names[i])
            lowered = entry_named(a, ptx, q->kernels[i]);
        else if (n->lowered_name(p, q->kernels[i], &lowered) != 0)
            lowered = NULL;
        if (!lowered)
            return err_world(err, "%s does not know kernel %s after compiling it", n->path, q->kernels[i]);
        kernels[i].mangled = arena_strdup(a, lowered);
        parse_resources(image->log, lowered, &kernels[i].resources);
        if (cubin && cubin_lines(a, cubin, image->cubin_len, lowered, fs_basename(q->path), &found, NULL)) {
            kernels[i].resources.sass = found.lines;
            kernels[i].resources.n_sass = found.n_lines;
            kernels[i].resources.code = found.code;
            kernels[i].resources.n_code = found.n_insns;
        }
    }
    return true;
}

struct compiled {
    nvrtc_program program;
    int code; /* NVRTC's word for how it went */
    char *log;
};

/* False: there was no compiling it. */
static bool compile_once(struct nvrtc *n, struct arena *a, const struct compile_request *q,
                         const names_vec *options, struct compiled *c, struct err *err)
{
    const char **names, **texts;
    int n_headers;
    size_t log_len;

    if (c->program)
        n->destroy(&c->program);
    texts = collect_headers(n, a, q, &names, &n_headers);
    c->code = n->create(&c->program, plain_lambdas(a, q, q->text), q->path, n_headers, texts, names);
    for (size_t i = 0; c->code == 0 && i < q->n_kernels; i++)
        if (!q->shared_names || !q->shared_names[i])
            c->code = n->add_name(c->program, q->kernels[i]);
    if (c->code != 0)
        return err_world(err, "%s: %s", n->path, n->error_string(c->code));
    c->code = n->compile(c->program, (int)options->n, options->v);
    return take(n->log_size, n->log, c->program, a, &c->log, &log_len) ||
           err_world(err, "%s gave no log: %s", n->path, n->error_string(c->code));
}

bool gpu_compile(struct nvrtc *n, struct arena *a, const struct compile_request *q, struct compile_result *r,
                 struct err *err)
{
    names_vec options = {0};
    struct compiled c = {0};
    bool ok = false, precompiled = precompiles(n, q), *shared = arena_array(a, bool, q->n_kernels + 1);
    struct compile_request named = *q;

    *r = (struct compile_result){.image.log = ""};
    if (!q->shadow) /* that text was looked at before; what is put before it says what others may not */
        r->end = guard_text(n, a, q, &r->words, &r->line);
    if (r->end != COMPILE_DONE)
        return true;
    if (!collect_options(n, a, q, &options, err))
        goto out;
    if (precompiled) {
        vec_push(&options, "--pch-messages=false");
        vec_push(&options, "--pch-verbose=false");
        vec_push(&options, "--pch");
    }
    if (!compile_once(n, a, q, &options, &c, err))
        goto out;
    if (c.code == FAILED && precompiled && strstr(c.log, "unable to obtain mapped memory")) {
        options.n--; /* the compiler's memory has no limit without it */
        if (!compile_once(n, a, q, &options, &c, err))
            goto out;
    }
    if (c.code == FAILED && names_shared(q, c.log, shared)) {
        named.shared_names = shared;
        if (!compile_once(n, a, &named, &options, &c, err))
            goto out;
    }
    n->compiled += !q->shadow;
    r->image.log = c.log;
    if (c.code == FAILED) {
        r->end = COMPILE_FAILED;
        compile_errors(a, c.log, q->path, r);
        ok = true;
        goto out;
    }
    if (c.code != 0) {
        err_world(err, "%s: %s%s%s", n->path, n->error_string(c.code), *c.log ? ": " : "", c.log);
        goto out;
    }
    if (!take_image(n, a, c.program, &named, &r->image, err))
        goto out;
    r->end = guard_ptx(a, r->image.ptx, r->image.ptx_len, &r->words, &r->line);
    ok = true;
out:
    if (c.program)
        n->destroy(&c.program);
    vec_free(&options);
    return ok;
}
