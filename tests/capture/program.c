/* A program that uses the driver, for tests/cli/capture.py: `program WAY WHAT`. WAY is how it comes to the
 * driver: linked (this file is linked with the stand-in), opened (dlopen and dlsym), asked (cuGetProcAddress,
 * as the CUDA runtime does). FAKE_DRIVER names the driver. It prints what its kernels computed. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
#define KERNEL(name, op)                                                                    \
    ".visible .entry " name "(.param .u64 p, .param .u32 n)\n{\n"                           \
    ".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"                                \
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"                                      \
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"                   \
    "mad.lo.s32 %r5, %r2, %r3, %r4; setp.ge.u32 %p1, %r5, %r1; @%p1 bra DONE;\n"            \
    "cvta.to.global.u64 %rd1, %rd1; mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2;\n" \
    "ld.global.u32 %r6, [%rd3]; " op " %r6, %r6, 3; st.global.u32 [%rd3], %r6;\nDONE: ret;\n}\n"
    KERNEL("add_three", "add.u32") KERNEL("_Z5timesIiEvPT_j", "mul.lo.u32")
    /* deep({unsigned **table, unsigned n}): adds 1 to the first n of what the table's first pointer is */
    ".visible .entry deep(.param .align 8 .b8 s[16])\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [s]; ld.param.u32 %r1, [s+8]; mov.u32 %r2, %tid.x;\n"
    "setp.ge.u32 %p1, %r2, %r1; @%p1 bra DONE;\n"
    "cvta.to.global.u64 %rd1, %rd1; ld.global.u64 %rd2, [%rd1]; cvta.to.global.u64 %rd2, %rd2;\n"
    "mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd2, %rd3;\n"
    "ld.global.u32 %r3, [%rd4]; add.u32 %r3, %r3, 1; st.global.u32 [%rd4], %r3;\nDONE: ret;\n}\n";

#define CALLS(CALL)                                                                                     \
    CALL(cuInit, (unsigned))                                                                            \
    CALL(cuCtxCreate_v2, (void **, unsigned, int))                                                      \
    CALL(cuModuleLoadData, (void **, const void *))                                                     \
    CALL(cuModuleGetFunction, (void **, void *, const char *))                                          \
    CALL(cuMemAlloc_v2, (uint64_t *, size_t))                                                           \
    CALL(cuMemsetD8Async, (uint64_t, unsigned char, size_t, void *))                                    \
    CALL(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *))                                \
    CALL(cuLaunchKernelEx, (const void *, void *, void **, void **))                                    \
    CALL(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *))                                      \
    CALL(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                          void *, void **, void **))                                                    \
    CALL(cuCtxSynchronize, (void))                                                                      \
    CALL(cuStreamBeginCapture_v2, (void *, int))                                                        \
    CALL(cuStreamEndCapture, (void *, void **))                                                         \
    CALL(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long))                            \
    CALL(cuGraphLaunch, (void *, void *))

#ifdef LINKED
#define CALL(name, args)  \
    extern int name args; \
    static int(*p_##name) args = name;
#else
#define CALL(name, args) static int(*p_##name) args;
#endif
CALLS(CALL)
#undef CALL

static void *find(const char *way, void *driver, const char *symbol)
{
    int (*ask)(const char *, void **, int, uint64_t, int *);
    void *found = NULL, *asker;
    char name[64];
    int status;

    if (!strcmp(way, "opened"))
        return dlsym(driver, symbol);
    asker = dlsym(driver, "cuGetProcAddress_v2");
    memcpy(&ask, &asker, sizeof(ask));
    snprintf(name, sizeof(name), "%s", symbol);
    if (strstr(name, "_v2"))
        *strstr(name, "_v2") = 0;
    return ask(name, &found, 13000, 0, &status) == 0 ? found : NULL;
}

static void must(int code, const char *what)
{
    if (code) {
        fprintf(stderr, "%s: %d\n", what, code);
        exit(9);
    }
}

static void *add_function, *mul_function, *deep_function;
static uint64_t buffer;
static int big; /* the buffer is of 8 MiB */

static void launch(void *function, unsigned n)
{
    void *params[] = {&buffer, &n};

    must(p_cuLaunchKernel(function, (n + 63) / 64, 1, 1, 64, 1, 1, 0, NULL, params, NULL), "launch");
}

static void *many(void *function)
{
    for (int i = 0; i < 50; i++)
        launch(function, 256);
    return NULL;
}

static void start(void)
{
    void *context, *module;

    must(p_cuInit(0), "init");
    must(p_cuCtxCreate_v2(&context, 0, 0), "context");
    must(p_cuModuleLoadData(&module, ptx), "module");
    must(p_cuModuleGetFunction(&add_function, module, "add_three"), "function");
    must(p_cuModuleGetFunction(&mul_function, module, "_Z5timesIiEvPT_j"), "function");
    must(p_cuModuleGetFunction(&deep_function, module, "deep"), "function");
    must(p_cuMemAlloc_v2(&buffer, big ? 8 << 20 : 2048), "memory");
    must(p_cuMemsetD8Async(buffer, 0, 2048, NULL), "set");
}

/* A struct with a pointer to pointers, by value. */
static void deep(void)
{
    struct {
        uint64_t table;
        uint32_t n, unused;
    } by_value = {.n = 60};
    void *params[] = {&by_value};

    must(p_cuMemAlloc_v2(&by_value.table, 64), "memory");
    must(p_cuMemcpyHtoDAsync_v2(by_value.table, &buffer, sizeof(buffer), NULL), "copy");
    must(p_cuLaunchKernel(deep_function, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL), "launch");
}

static void cooperative(void)
{
    struct {
        int id;
        char pad[4], value[64];
    } attribute = {.id = 2, .value = {1}};
    struct {
        unsigned grid[3], block[3], shared;
        void *stream, *attributes;
        unsigned n_attributes;
    } config = {{4, 1, 1}, {64, 1, 1}, 0, NULL, &attribute, 1};
    unsigned n = 256;
    void *params[] = {&buffer, &n};

    must(p_cuLaunchKernelEx(&config, add_function, params, NULL), "launch");
}

static void finish(void)
{
    uint32_t out[256], sum = 0;

    must(p_cuMemcpyDtoHAsync_v2(out, buffer, sizeof(out), NULL), "copy");
    must(p_cuCtxSynchronize(), "end");
    for (int i = 0; i < 256; i++)
        sum = sum * 31 + out[i];
    printf("computed %u\n", sum);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *way = argc > 2 ? argv[1] : "", *what = argc > 2 ? argv[2] : "";
    void *graph, *exec, *driver = NULL;
    pthread_t other;

    if (!*way || (strcmp(way, "linked") && !(driver = dlopen(getenv("FAKE_DRIVER"), RTLD_NOW))))
        return 8;
#define CALL(name, args)                          \
    if (driver) {                                 \
        void *found = find(way, driver, #name);   \
        memcpy(&p_##name, &found, sizeof(found)); \
    }                                             \
    if (!p_##name)                                \
        must(1, #name);
    CALLS(CALL)
#undef CALL
    if (!strcmp(what, "fork")) {
        if (fork() == 0) {
            start();
            many(add_function);
            finish();
            exit(0);
        }
        wait(NULL);
    }
    big = !strcmp(what, "big");
    start();
    if (!strcmp(what, "threads")) {
        must(pthread_create(&other, NULL, many, add_function), "thread");
        many(add_function);
        pthread_join(other, NULL);
    } else if (!strcmp(what, "graph") || !strcmp(what, "recorded")) {
        if (!strcmp(what, "graph")) /* else the first one is recorded */
            launch(add_function, 256);
        must(p_cuStreamBeginCapture_v2(NULL, 0), "capture");
        launch(add_function, 256);
        launch(mul_function, 256);
        launch(mul_function, 128);
        must(p_cuStreamEndCapture(NULL, &graph), "captured");
        must(p_cuGraphInstantiateWithFlags(&exec, graph, 0), "instantiate");
        for (int i = 0; i < 10; i++)
            must(p_cuGraphLaunch(exec, NULL), "graph");
    } else if (!strcmp(what, "long") || !strcmp(what, "profiles")) {
        int (*subscribe)(void **, void *, void *) = NULL;
        void *subscriber, *found = !strcmp(what, "profiles") ? dlsym(RTLD_DEFAULT, "cuptiSubscribe") : NULL;
        memcpy(&subscribe, &found, sizeof(found));
        for (int i = 0; i < 30; i++) {
            many(add_function);
            if (i == 9 && subscribe)
                must(subscribe(&subscriber, NULL, NULL), "subscribe");
            usleep(30000);
        }
    } else if (!strcmp(what, "shapes")) {
        launch(add_function, 256);
        launch(add_function, 100);
        launch(add_function, 250);
        buffer += 4;
        launch(add_function, 256 - 64);
        launch(add_function, 256);
        buffer -= 4;
    } else if (!strcmp(what, "deep")) {
        launch(add_function, 256);
        deep();
    } else if (!strcmp(what, "cooperative")) {
        cooperative();
    } else {
        many(add_function);
        launch(mul_function, 100);
    }
    finish();
    if (!strcmp(what, "waits"))
        pause();
    if (!strcmp(what, "crash"))
        abort();
    return !strcmp(what, "fails") ? 3 : 0;
}
