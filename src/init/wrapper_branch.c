/* Branches of a wrapper that are for other kernels than the one that a task is made of. */
#include "init/wrapper.h"

bool wrapper_says_launch(const struct wrapper_reader *r, size_t i, size_t end)
{
    for (; i < end; i++) {
        if (token_is(&r->v[i], "<<<") || token_in(&r->v[i], "cudaLaunchKernel|cudaLaunchKernelEx|"
                                                            "cudaLaunchCooperativeKernel|cudaLaunchKernelExC"))
            return true;
    }
    return false;
}

bool wrapper_says_kernel(const struct wrapper_reader *r, size_t i, size_t end)
{
    for (; i < end; i++) {
        if (token_is(&r->v[i], r->in->kernel->name))
            return true;
    }
    return false;
}

/* Does a function of the files that is called here launch something? */
static bool calls_launch(const struct wrapper_reader *r, size_t i, size_t end)
{
    const struct token *v = r->source->tokens.v;

    for (; i + 1 < end; i++) {
        const struct init_names *found = r->v[i].kind == TOK_WORD && wrapper_sign(&r->v[i + 1], "( <")
                                             ? init_named(r->source, token_text(r->arena, &r->v[i]))
                                             : NULL;
        for (size_t n = 0; found && n < found->decls.n; n++) {
            const struct init_decl *d = &r->source->decls.v[found->decls.v[n]];
            for (size_t k = d->body; k && k < d->end; k++) {
                if (token_is(&v[k], "<<<"))
                    return true;
            }
        }
    }
    return false;
}

/* A version of the kernel, by its name: rms_norm_kernel_vec8 of rms_norm_kernel, as export writes them, too. */
static bool says_version(const struct wrapper_reader *r, size_t i, size_t end)
{
    const char *name = r->in->kernel->name;
    size_t n = strlen(name);

    for (; i < end; i++)
        if (r->v[i].kind == TOK_WORD && r->v[i].len > n && r->v[i].s[n] == '_' && !memcmp(r->v[i].s, name, n))
            return true;
    return false;
}

bool wrapper_is_of_others(const struct wrapper_reader *r, size_t i, size_t end)
{
    return !wrapper_says_kernel(r, i, end) && !says_version(r, i, end) &&
           (wrapper_says_launch(r, i, end) || calls_launch(r, i, end));
}

/* Behind the `:` of the label at i. */
static size_t behind_label(const struct wrapper_reader *r, size_t i, size_t end)
{
    while (i < end && !token_is(&r->v[i], ":"))
        i++;
    return MIN(i + 1, end);
}

static void blank(struct wrapper_reader *r, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        r->v[i].s = ";";
        r->v[i].len = 1;
        r->v[i].kind = TOK_PUNCT;
    }
}

/* The next label from i on, or `close`. */
static size_t next_label(const struct wrapper_reader *r, size_t i, size_t close)
{
    while (i < close && !token_in(&r->v[i], "case|default"))
        i = wrapper_sign(&r->v[i], "( [ {") ? wrapper_skip(r->v, close, i) : i + 1;
    return MIN(i, close);
}

void wrapper_cases_of_others(struct wrapper_reader *r, size_t value, size_t body)
{
    const size_t close = wrapper_skip(r->v, r->n, body) - 1;
    bool of_default = false;

    for (size_t i = next_label(r, body + 1, close), end; i < close; i = end) {
        end = next_label(r, i + 1, close);
        of_default = of_default || (token_is(&r->v[i], "default") && wrapper_says_kernel(r, i, end));
    }
    for (size_t i = next_label(r, body + 1, close), from = i, end; i < close; i = end) {
        size_t first = behind_label(r, i, close);

        end = next_label(r, i + 1, close);
        if (first == end) /* it falls to the next one */
            continue;
        bool others = wrapper_is_of_others(r, first, end);
        for (size_t k = from; k < first && of_default && (others || token_is(&r->v[first], "break"));
             k = next_label(r, k + 1, close))
            wrapper_condition(r, arena_printf(r->arena, "%s != %s", wrapper_expr(r, value, body - 1),
                                              wrapper_expr(r, k + 1, behind_label(r, k, close) - 1)));
        if (others)
            blank(r, of_default ? first : from, end);
        if (others && of_default)
            r->v[first] = (struct token){.kind = TOK_WORD, .s = "break", .len = 5};
        from = end;
    }
}

static bool says_any(const struct wrapper_reader *r, size_t i, size_t end, const char *list)
{
    while (i < end && !token_in(&r->v[i], list))
        i++;
    return i < end;
}

bool wrapper_is_afterwards(struct wrapper_reader *r, size_t i, size_t next, const char *memory_calls)
{
    size_t end = r->f.body_end, launch = i;

    if (r->helper || r->depth != 1 || !says_any(r, i, MIN(next, i + 8), "for|while|vector|memset|memcpy") ||
        says_any(r, i, next, "Tensor") || wrapper_says_launch(r, i, end) || wrapper_is_of_others(r, i, end) ||
        says_any(r, i, end, memory_calls))
        return false;
    while (launch > r->f.body && !wrapper_says_launch(r, launch, launch + 1))
        launch--;
    if (launch == r->f.body)
        return false;
    while (launch < i && !token_is(&r->v[launch], ";"))
        launch++;
    wrapper_give_back(r, launch, end);
    wrapper_note(r, "what the host does behind the launch is left out");
    return true;
}
