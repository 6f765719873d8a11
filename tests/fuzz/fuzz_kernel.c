/* Any bytes as a kernel file: understood or refused with words and a place; what is understood is planned for
 * small and odd arguments. */
#include "kernel/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct kernel_limits limits = {
    .device_name = "fuzz",
    .sm_count = 132,
    .cc_major = 9,
    .max_threads_per_block = 1024,
    .max_threads_per_sm = 2048,
    .max_blocks_per_sm = 32,
    .warp_size = 32,
    .shared_per_block = 49152,
    .shared_per_block_optin = 232448,
    .shared_per_sm = 233472,
    .l2_bytes = 62914560,
    .registers_per_sm = 65536,
};

static const char *const entries[] = {"go",       "silu_and_mul", "fused_add_rmsnorm", "merge_attn_states",
                                      "softmax",  "layernorm",    "transpose",         "rotary_embedding",
                                      "histogram"};

static void plan_all(struct arena *a, const struct kernel *k)
{
    static const int64_t sizes[] = {0, 1, 7, 4096, -1, INT64_MAX};
    struct kernel_value *args = arena_array(a, struct kernel_value, k->n_params + 1);

    for (size_t s = 0; s < ARRAY_LEN(sizes); s++) {
        struct err err = {0};
        struct plan plan;
        int buffer = 0;

        for (size_t i = 0; i < k->n_params; i++) {
            args[i] = (struct kernel_value){.type = k->params[i].type, .pointer = k->params[i].pointer};
            if (args[i].pointer)
                args[i].p.buffer = buffer++;
            else if (args[i].type >= KT_F16)
                args[i].f = (double)sizes[s];
            else
                args[i].i = sizes[s];
        }
        if (!kernel_plan(&plan, a, k, args, NULL, &limits, &err))
            BUG_IF(!err.text[0] || err.line < 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_open();
    struct err err = {0};
    struct kernel *k = NULL;
    const char *entry = entries[0];

    for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
        char head[64];
        snprintf(head, sizeof(head), "void %s(", entries[i]);
        if (size && memmem(data, size, head, strlen(head)))
            entry = entries[i];
    }
    if (kernel_open(&k, a, "fuzz.cu", (const char *)data, size, entry, &err)) {
        BUG_IF(strlen(k->device_text) != size);
        plan_all(a, k);
        for (size_t i = 0; i < k->n_tunables; i++)
            kernel_with_tunable(a, k, i, "1");
        kernel_close(k);
    } else {
        BUG_IF(!err.text[0] || err.line < 1);
    }
    kernel_normalise(a, (const char *)data, size);
    arena_close(a);
    return 0;
}
