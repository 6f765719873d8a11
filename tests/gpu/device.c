/* The device that measures, on a real GPU: `gpu_device check` asks of it what tests/unit/test_cuda.c asks of a
 * fake, and prints a line each. Each check has a process of its own, since most of them spoil it. */
#include "gpu/device.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

static const char kernels[] =
    "__device__ unsigned counter;\n"
    "extern \"C\" __global__ void put(char *at, long long offset, int byte) { at[offset] = (char)byte; }\n"
    "extern \"C\" __global__ void get(char *at, long long offset, int byte) { at[0] = at[offset]; }\n"
    "extern \"C\" __global__ void misaligned(char *at) { *(int *)at = *(volatile int *)(at + 1); }\n"
    "extern \"C\" __global__ void trap() { asm volatile(\"trap;\"); }\n"
    "extern \"C\" __global__ void endless(volatile int *at) { while (*at != 77) ; }\n"
    "extern \"C\" __global__ void fails(int *at) { assert(at == nullptr); }\n"
    "extern \"C\" __global__ void prints(int v) { printf(\"printed %d\\n\", v); }\n"
    "extern \"C\" __global__ void count() { counter++; }\n"
    "extern \"C\" __global__ void empty() { }\n"
    "extern \"C\" __global__ void look(unsigned *bad, unsigned *sms, int bytes, int byte) {\n"
    "  extern __shared__ unsigned char s[]; unsigned sm, n = 0;\n"
    "  for (int i = threadIdx.x; i < bytes; i += blockDim.x) n += ((volatile unsigned char *)s)[i] != byte;\n"
    "  asm(\"mov.u32 %0, %%smid;\" : \"=r\"(sm)); atomicAdd(bad, n); if (!threadIdx.x) atomicOr(sms + sm / 32, 1u << sm % 32);\n"
    "}\n"
    "extern \"C\" __global__ void together(unsigned *at) {\n" /* all blocks at once, or for ever */
    "  if (!threadIdx.x) { atomicAdd(at, 1); while (*(volatile unsigned *)at < gridDim.x) ; } }\n"
    "extern \"C\" __global__ void cluster(unsigned *at) {\n"
    "  unsigned n; asm(\"mov.u32 %0, %%cluster_nctarank;\" : \"=r\"(n)); if (!threadIdx.x) atomicMax(at, n); }\n";

static struct cuda *cuda;
static struct cuda_module *module;
static struct arena *arena;
static struct err err;

static bool compile(struct compile_result *r)
{
    static const char *const names[] = {"put",    "get",   "misaligned", "trap", "endless",  "fails",
                                        "prints", "count", "empty",      "look", "together", "cluster"};
    struct compile_request q = {
        .path = "device.cu", .text = kernels, .arch = "sm_90", .kernels = names, .n_kernels = ARRAY_LEN(names)};
    struct nvrtc *n;

    if (!nvrtc_open(&n, &err) || !gpu_compile(n, arena, &q, r, &err))
        return false;
    /* trap is on the deny-list of candidates; the image is there all the same. */
    return r->image.cubin_len ? true : err_world(&err, "%s", r->words);
}

static struct compile_result compiled;

static bool start(void)
{
    const struct image *i = &compiled.image;
    bool text = getenv("ASTRA_CUDA_PTX") != NULL; /* the fake driver takes no other */

    return cuda_open(&cuda, 0, &err) &&
           cuda_module_open(&module, cuda, text ? i->ptx : i->cubin, text ? i->ptx_len : i->cubin_len, &err);
}

static struct ptx_launch launch_of(const char *kernel, uint32_t grid, uint32_t block, const void *const *args,
                                   size_t n)
{
    return (struct ptx_launch){
        .kernel = kernel, .grid = {grid, 1, 1}, .block = {block, 1, 1}, .args = args, .n_args = n};
}

/* "end|first finding's words", or the error. */
static const char *run_limited(struct ptx_launch l, double limit_s)
{
    struct ptx_report r;

    if (!cuda_launch(module, &l, limit_s, &r, &err))
        return arena_printf(arena, "error: %s", err.text);
    return arena_printf(arena, "%s%s%s", ptx_end_name(r.end), r.n_findings ? "|" : "",
                        r.n_findings ? r.findings[0].words : "");
}

static const char *run(struct ptx_launch l)
{
    return run_limited(l, 10);
}

static uint64_t alloc(struct cuda_buffers *s, const char *name, uint64_t size, uint32_t align, bool read_only)
{
    const struct cuda_buffer b = {
        .name = name, .size_bytes = size, .align_bytes = align, .read_only = read_only};
    uint64_t addr = cuda_buffers_alloc(s, &b, &err);

    if (!addr) {
        printf("%s\n", err.text);
        _exit(3);
    }
    return addr;
}

static struct cuda_buffers *space(bool guarded, uint64_t seed)
{
    struct cuda_buffers *s;

    if (!cuda_buffers_open(&s, cuda, guarded, seed, &err)) {
        printf("%s\n", err.text);
        _exit(3);
    }
    return s;
}

static const char *damage(struct cuda_buffers *s)
{
    const char *words = NULL;

    if (!cuda_buffers_damage(s, arena, &words, &err))
        return arena_printf(arena, "error: %s", err.text);
    return words ? words : "none";
}

/* One byte at offset of a guarded buffer of 1000 bytes that is aligned to 2. */
static const char *touch(const char *kernel, uint64_t seed, int64_t offset, bool vmm)
{
    cuda->info.vmm &= vmm;
    struct cuda_buffers *s = space(true, seed);
    uint64_t at = alloc(s, "b", 1000, 2, false);
    int byte = 1;
    const void *args[] = {&at, &offset, &byte};
    const char *end = run(launch_of(kernel, 1, 1, args, 3));

    return arena_printf(arena, "%s; damage: %s", end, cuda_spoilt(cuda) ? "spoilt" : damage(s));
}

static const char *inside(void)
{
    return touch("put", 2, 999, true);
}
static const char *write_behind(void)
{
    return touch("put", 2, 1000, true);
}
static const char *read_behind(void)
{
    return touch("get", 2, 1000, true);
}
static const char *write_before(void)
{
    return touch("put", 2, -1, true);
}
static const char *write_before_all(void)
{
    return touch("put", 2, -(3 << 20), true);
}
static const char *moved_behind(void)
{
    return touch("put", 3, 1000, true);
}
static const char *plain_behind(void)
{
    return touch("put", 2, 1001, false);
}
static const char *null(void)
{
    uint64_t at = 0;
    int64_t offset = 8;
    int byte = 1;
    const void *args[] = {&at, &offset, &byte};
    return run(launch_of("put", 1, 1, args, 3));
}

static const char *input_written(void)
{
    struct cuda_buffers *s = space(true, 2);
    uint64_t at = alloc(s, "in", 100 << 20, 0, true);
    int64_t offset = (100 << 20) - 7;
    int byte = 1;
    const void *args[] = {&at, &offset, &byte};

    if (!cuda_set(cuda, at, 0x33, 100 << 20, &err))
        return err.text;
    const char *end = run(launch_of("put", 1, 1, args, 3));
    double from = time_s();
    const char *d = damage(s);
    return arena_printf(arena, "%s; %s (%.1f ms for 100 MiB)", end, d, (time_s() - from) * 1e3);
}

static const char *with_pointer(const char *kernel, double limit_s)
{
    struct cuda_buffers *s = space(true, 2);
    uint64_t at = alloc(s, "b", 64, 0, false);
    const void *args[] = {&at};

    if (!cuda_set(cuda, at, 0, 64, &err))
        return err.text;
    return run_limited(launch_of(kernel, 1, 32, args, 1), limit_s);
}
static const char *misaligned(void)
{
    return with_pointer("misaligned", 10);
}
static const char *asserts(void)
{
    return with_pointer("fails", 10);
}
static const char *traps(void)
{
    return run(launch_of("trap", 1, 32, NULL, 0));
}
static const char *hangs(void)
{
    double from = time_s();
    const char *end = with_pointer("endless", 0.5);
    return arena_printf(arena, "%s (after %.3f s); then %s", end, time_s() - from,
                        cuda_set(cuda, 0, 0, 1, &err) ? "works" : err.text);
}
static const char *prints(void)
{
    int v = 42;
    const void *args[] = {&v};

    dup2(STDERR_FILENO, STDOUT_FILENO);
    return run(launch_of("prints", 1, 1, args, 1));
}

static const char *refusals(void)
{
    struct ptx_launch l = launch_of("empty", 1, 1025, NULL, 0);
    const char *a = run(l), *b, *c, *d;

    l = launch_of("empty", 1, 32, NULL, 0);
    l.shared_bytes = 240000;
    b = run(l);
    l = launch_of("empty", 100000, 1024, NULL, 0);
    l.cooperative = true;
    c = run(l);
    l = launch_of("empty", 64, 32, NULL, 0);
    l.cluster[0] = 32;
    d = run(l);
    return arena_printf(arena, "%s\n    %s\n    %s\n    %s\n    %s", a, b, c, d,
                        cuda_spoilt(cuda) ? "spoilt" : "usable");
}

static const char *poison(void)
{
    struct cuda_buffers *s = space(true, 2);
    uint64_t bad = alloc(s, "bad", 64, 0, false), sms = bad + 8;
    int bytes = 200000, byte;
    const void *args[] = {&bad, &sms, &bytes, &byte};
    struct ptx_launch l = launch_of("look", (uint32_t)cuda->info.limits.sm_count, 512, args, 4);
    uint32_t v[16], n_sms;
    struct str out = {0};
    double from;

    l.shared_bytes = (uint32_t)bytes;
    for (int round = 0; round < 3; round++) {
        byte = round == 1 ? 0x5a : 0xa5;
        n_sms = 0;
        from = time_s();
        if (!cuda_set(cuda, bad, 0, 64, &err) || (round < 2 && !cuda_poison_shared(cuda, byte, &err)))
            return err.text;
        double took = time_s() - from;
        byte = round == 2 ? 0xa5 : byte; /* third time: the poison was 0x5a, and look() must say so */
        const char *end = run(l);
        if (!cuda_read(cuda, bad, v, 64, &err))
            return err.text;
        for (int k = 2; k < 16; k++)
            n_sms += (uint32_t)__builtin_popcount(v[k]);
        str_addf(&out, "%s%s: %u of %u bytes differ from %#x, %u SMs, %.0f us", round ? "; " : "", end, v[0],
                 (unsigned)bytes * (unsigned)cuda->info.limits.sm_count, (unsigned)byte, n_sms, took * 1e6);
    }
    return str_text(&out);
}

static const char *together(void)
{
    struct cuda_buffers *s = space(true, 2);
    uint64_t at = alloc(s, "at", 64, 0, false);
    const void *args[] = {&at};
    struct ptx_launch l = launch_of("together", (uint32_t)cuda->info.limits.sm_count * 2, 1024, args, 1), k;
    uint32_t n;

    l.cooperative = true;
    if (!cuda_set(cuda, at, 0, 64, &err))
        return err.text;
    const char *a = run(l);
    k = launch_of("cluster", 16, 32, args, 1);
    k.cluster[0] = 4;
    if (!cuda_set(cuda, at, 0, 64, &err))
        return err.text;
    const char *b = run(k);
    if (!cuda_read(cuda, at, &n, 4, &err))
        return err.text;
    k.cluster[0] = 16;
    const char *c = run(k);
    k.non_portable_cluster = true;
    return arena_printf(arena, "cooperative %s; cluster of 4 %s, seen %u; of 16 %s; allowed %s", a, b, n, c,
                        run(k));
}

static const char *memory(void)
{
    const struct cuda_buffer b = {.name = "huge", .size_bytes = 300ull << 30};
    struct cuda_buffers *s = space(true, 2), *p = space(false, 2);
    double from;
    struct str out = {0};

    if (cuda_buffers_alloc(s, &b, &err))
        return "allocated 300 GiB";
    str_addf(&out, "%s", err.text);
    if (cuda_buffers_alloc(p, &b, &err))
        return "allocated 300 GiB";
    static const uint64_t sizes[] = {4096, 16 << 20, 256 << 20};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        from = time_s();
        for (int k = 0; k < 8; k++)
            cuda_buffers_free(s, alloc(s, "a", sizes[i], 0, false));
        str_addf(&out, "\n    guarded %zu KiB: %.0f us to make and free", (size_t)sizes[i] >> 10,
                 (time_s() - from) / 8 * 1e6);
    }
    alloc(s, "a", 1 << 20, 0, false);
    from = time_s();
    damage(s);
    str_addf(&out, "; looking at one: %.0f us", (time_s() - from) * 1e6);
    char *bytes = mem_alloc(64 << 20);

    memset(bytes, 1, 64 << 20); /* its pages are there */
    uint64_t at = alloc(p, "a", 64 << 20, 0, false);
    from = time_s();
    if (!cuda_write(cuda, at, bytes, 64 << 20, &err))
        return err.text;
    str_addf(&out, "; writing %.1f GB/s", 64 * 1.048576e-3 / (time_s() - from));
    from = time_s();
    if (!cuda_read(cuda, at, bytes, 64 << 20, &err))
        return err.text;
    str_addf(&out, ", reading %.1f GB/s", 64 * 1.048576e-3 / (time_s() - from));
    from = time_s();
    if (!cuda_flush(cuda, &err))
        return err.text;
    double first = time_s() - from;
    from = time_s();
    cuda_flush(cuda, &err);
    str_addf(&out, ", flush %.0f us, then %.0f us", first * 1e6, (time_s() - from) * 1e6);
    return str_text(&out);
}

static const char *globals(void)
{
    static const char *const names[] = {"counter"};
    uint64_t a, b;

    if (!cuda_module_globals_hash(module, names, 1, &a, &err))
        return err.text;
    const char *end = run(launch_of("count", 1, 1, NULL, 0));
    if (!cuda_module_globals_hash(module, names, 1, &b, &err))
        return err.text;
    return arena_printf(arena, "%s; %s", end, a == b ? "the same" : "changed");
}

static const char *text_module(void)
{
    struct cuda_module *m;
    double from = time_s();

    if (!cuda_module_open(&m, cuda, compiled.image.ptx, compiled.image.ptx_len, &err))
        return err.text;
    cuda_module_close(m);
    double ptx = time_s() - from;
    from = time_s();
    if (!cuda_module_open(&m, cuda, compiled.image.cubin, compiled.image.cubin_len, &err))
        return err.text;
    return arena_printf(arena, "PTX %.1f ms, CUBIN %.2f ms", ptx * 1e3, (time_s() - from) * 1e3);
}

static const char *bad_module(void)
{
    struct cuda_module *m;
    char *newer = arena_strdup(arena, compiled.image.ptx), *version = strstr(newer, ".version ");

    memcpy(version, ".version 9.9", 12);
    if (cuda_module_open(&m, cuda, newer, strlen(newer), &err))
        return "loaded PTX 9.9";
    const char *a = arena_strdup(arena, err.text);
    err = (struct err){0};
    if (cuda_module_open(&m, cuda, "\177ELFrubbish", 11, &err))
        return "loaded rubbish";
    return arena_printf(arena, "%s\n    %s", a, err.text);
}

static const char *locked(void)
{
    int ends[2];
    char said[600] = "";
    pid_t pid;

    if (pipe(ends) != 0 || !cuda_lock(cuda, 0, &err))
        return err.text;
    if ((pid = fork()) == 0) { /* must not use our context: only the lock */
        cuda->lock_fd = -1;
        dprintf(ends[1], "%s", cuda_lock(cuda, 0.1, &err) ? "got it too" : err.text);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    if (read(ends[0], said, sizeof(said) - 1) < 0)
        return "no word";
    return arena_strdup(arena, said);
}

static struct cuda_graph *graph_of(int launches)
{
    struct ptx_launch l = launch_of("empty", 1, 32, NULL, 0);
    struct cuda_graph *t;
    bool ok = cuda_graph_open(&t, cuda, &err);

    for (int i = 0; ok && i < launches; i++)
        ok = cuda_graph_launch(t, module, &l, &err);
    if (!ok || !cuda_graph_seal(t, &err)) {
        printf("%s\n", err.text);
        _exit(3);
    }
    return t;
}

/* us of the interval; *ms: of the host. */
static double time_of(struct cuda_graph *t, int times, double *ms)
{
    struct ptx_report r;
    double us = NAN, from = time_s();

    if (!cuda_graph_time(t, times, 10, &us, &r, &err))
        us = NAN;
    *ms = (time_s() - from) * 1e3;
    return us;
}

/* Replays of short and long graphs through the product's own timing; a graph that waits must not matter. */
static const char *graphs(void)
{
    static const struct {
        int launches, times;
    } shapes[] = {{1, 1}, {1, 5000}, {100, 100}, {1000, 1}, {1000, 100}, {4000, 4}, {10000, 1}};
    struct str out = {0};
    double built, first, again;

    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        double from = time_s();
        struct cuda_graph *t = graph_of(shapes[i].launches);
        built = time_s() - from;
        time_of(t, shapes[i].times, &first);
        double us = time_of(t, shapes[i].times, &again);
        str_addf(&out,
                 "\n    %5d launches x %4d: %.3f us each, %.2f ms to make, %.2f ms to run first, %.2f ms again",
                 shapes[i].launches, shapes[i].times, us / shapes[i].times / shapes[i].launches, built * 1e3,
                 first, again);
        cuda_graph_close(t);
    }
    struct cuda_graph *a = graph_of(1000), *b;
    time_of(a, 1, &first);
    double alone = time_of(a, 1, &again);
    b = graph_of(1000);
    double beside = time_of(a, 1, &again);
    time_of(b, 1, &again);
    str_addf(&out, "\n    alone %.3f, another sealed %.3f, run %.3f us each; %s", alone / 1e3, beside / 1e3,
             time_of(a, 1, &again) / 1e3, beside < 1.1 * alone ? "no difference" : "the other one matters");
    str_addf(&out, "; the gate gave up %s", cuda->flags[1] ? "at times" : "never");
    return str_text(&out);
}

/* One launch recorded, sealed, timed twice. */
static const char *recorded(struct ptx_launch l, double limit_s)
{
    struct cuda_graph *t;
    struct ptx_report r = {0};
    double us = 0;

    if (!cuda_graph_open(&t, cuda, &err) || !cuda_graph_launch(t, module, &l, &err) ||
        !cuda_graph_seal(t, &err) || !cuda_graph_time(t, 2, limit_s, &us, &r, &err))
        return arena_printf(arena, "error: %s", err.text);
    cuda_graph_close(t);
    return arena_printf(arena, "%s%s%s", ptx_end_name(r.end), r.n_findings ? "|" : "",
                        r.n_findings ? r.findings[0].words : "");
}

static const char *graph_together(void)
{
    struct cuda_buffers *s = space(CUDA_PLAIN, 2);
    uint64_t at = alloc(s, "at", 64, 0, false);
    const void *args[] = {&at};
    struct ptx_launch l = launch_of("together", (uint32_t)cuda->info.limits.sm_count * 2, 1024, args, 1);
    uint32_t n;

    l.cooperative = true;
    if (!cuda_set(cuda, at, 0, 64, &err))
        return err.text;
    const char *a = recorded(l, 10);
    l = launch_of("cluster", 16, 32, args, 1);
    l.cluster[0] = 4;
    if (!cuda_set(cuda, at, 0, 64, &err))
        return err.text;
    const char *b = recorded(l, 10);
    if (!cuda_read(cuda, at, &n, 4, &err))
        return err.text;
    l = launch_of("together", 100000, 1024, args, 1);
    l.cooperative = true;
    return arena_printf(arena, "cooperative %s; cluster of 4 %s, seen %u; too many %s", a, b, n,
                        recorded(l, 10));
}

static const char *graph_fault(void)
{
    uint64_t at = 0;
    int64_t offset = 8;
    int byte = 1;
    const void *args[] = {&at, &offset, &byte};
    const char *end = recorded(launch_of("put", 1, 1, args, 3), 10);

    return arena_printf(arena, "%s; %s", end, cuda_spoilt(cuda) ? "spoilt" : "usable");
}

static const char *graph_hang(void)
{
    struct cuda_buffers *s = space(CUDA_PLAIN, 2);
    uint64_t at = alloc(s, "b", 64, 0, false);
    const void *args[] = {&at};

    if (!cuda_set(cuda, at, 0, 64, &err))
        return err.text;
    return recorded(launch_of("endless", 1, 32, args, 1), 0.3);
}

static const char *opened(void)
{
    const struct cuda_info *i = cuda_info(cuda);
    struct cuda_clocks k;
    int files = 0;
    DIR *dir = opendir("/proc/self/fd");

    while (dir && readdir(dir))
        files++;
    closedir(dir);
    cuda_clocks(cuda, &k);
    return arena_printf(
        arena,
        "%s, %s, driver %s (CUDA %d), model %s%s, %s, vmm %d, %.1f of %.1f GiB free, others %d\n    SM %u MHz, "
        "memory %u MHz, %u C, %u W, throttle %#llx; %d open files",
        i->name, i->uuid, i->driver, i->driver_cuda, i->model, i->same_model ? "" : " (nearest)", i->arch,
        i->vmm, (double)i->free_bytes / 0x1p30, (double)i->total_bytes / 0x1p30, i->other_processes, k.sm_mhz,
        k.memory_mhz, k.temperature_c, k.power_w, (unsigned long long)k.throttle_reasons, files - 3);
}

static const struct check {
    const char *name, *want; /* what the answer must contain */
    const char *(*f)(void);
} checks[] = {
    {"opened", "vmm 1", opened},
    {"inside", "done; damage: none", inside},
    {"write behind", "unsafe|an access outside", write_behind},
    {"read behind", "unsafe|an access outside", read_behind},
    {"write before",
     "done; damage: 1 byte outside of buffer b (1000 bytes) was written, the nearest 1 byte before its begin",
     write_before},
    {"write 3 MiB before", "unsafe|an access outside", write_before_all},
    {"moved, write behind",
     "done; damage: 1 byte outside of buffer b (1000 bytes) was written, the nearest 1 byte behind its end",
     moved_behind},
    {"no vmm, write behind",
     "done; damage: 1 byte outside of buffer b (1000 bytes) was written, the nearest 2 bytes behind",
     plain_behind},
    {"null", "unsafe|", null},
    {"input written", "buffer in, which is only to be read, was written", input_written},
    {"misaligned", "unsafe|an access to an address that is no multiple", misaligned},
    {"assert", "crashed|a failed assert", asserts},
    {"trap", "crashed|", traps},
    {"hang", "hung|the kernel did not end within 0.5 s", hangs},
    {"prints", "done", prints},
    {"refusals", "usable", refusals},
    {"shared poison", "done: 0 of 26400000 bytes differ from 0x5a, 132 SMs", poison},
    {"cooperative, clusters", "cooperative done; cluster of 4 done, seen 4; of 16 bad launch", together},
    {"memory", "huge wants", memory},
    {"module variables", "done; changed", globals},
    {"PTX and CUBIN", "PTX", text_module},
    {"refused code", "UNSUPPORTED_PTX_VERSION", bad_module},
    {"graphs", "no difference; the gate gave up never", graphs},
    {"graph, together", "cooperative done; cluster of 4 done, seen 4; too many error: ", graph_together},
    {"graph, fault", "unsafe|", graph_fault},
    {"graph, hang", "hung|", graph_hang},
    {"lock", "being measured on by another", locked},
};

/* One check, in a process that is new: what NVRTC or a fork leaves behind would be in the driver's way. */
static int check_one(size_t i)
{
    int out = dup(STDOUT_FILENO); /* `prints` turns it away from what kernels print */
    const char *text = start() ? checks[i].f() : err.text;

    dprintf(out, "%s", text);
    close(out);
    return 0; /* through the driver's own end */
}

static int check_all(const char *self)
{
    int failed = 0;

    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        int ends[2], status;
        char said[4096] = "";
        size_t n = 0;
        ssize_t got;
        double from = time_s(), done;

        fflush(NULL);
        if (pipe(ends) != 0)
            return 2;
        pid_t pid = fork();
        if (pid == 0) {
            char number[16];
            snprintf(number, sizeof(number), "%zu", i);
            dup2(ends[1], STDOUT_FILENO);
            close(ends[0]);
            close(ends[1]);
            execl(self, self, "one", number, (char *)NULL);
            _exit(127);
        }
        close(ends[1]);
        while (n < sizeof(said) - 1 && (got = read(ends[0], said + n, sizeof(said) - 1 - n)) > 0)
            n += (size_t)got;
        close(ends[0]);
        done = time_s();
        waitpid(pid, &status, 0);
        bool ok = strstr(said, checks[i].want) && WIFEXITED(status);
        failed += !ok;
        printf("%-6s %-22s %4.0f ms, end %3.0f ms  %s\n", ok ? "ok" : "FAILED", checks[i].name,
               (done - from) * 1e3, (time_s() - done) * 1e3, said);
    }
    printf("%zu passed, %d failed\n", ARRAY_LEN(checks) - (size_t)failed, failed);
    return failed != 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    arena = arena_open();
    if (!strcmp(what, "check"))
        return check_all(argv[0]);
    if (!compile(&compiled)) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    if (!strcmp(what, "one") && argc > 2)
        return check_one(strtoul(argv[2], NULL, 10) % ARRAY_LEN(checks));
    fprintf(stderr, "usage: gpu_device check\n");
    return 2;
}
