/* Statements of a wrapper, written anew. What only the framework needs is left out and said; branches that the
 * chosen types decide are taken; checks become conditions of the domain. */
#include "init/wrapper.h"

#include <ctype.h>

static size_t statement(struct wrapper_reader *r, size_t i, size_t end);

static const char left_out[] =
    "C10_CUDA_KERNEL_LAUNCH_CHECK|C10_CUDA_CHECK|AT_CUDA_CHECK|TORCH_CUDA_CHECK|CUDA_CHECK|cudaCheck|THCudaCheck|"
    "cudaGetLastError|cudaPeekAtLastError|cudaDeviceSynchronize|cudaStreamSynchronize|cudaThreadSynchronize|"
    "sync_check_cuda_error|CUDA_CHECK_RETURN|checkCudaErrors|getLastCudaError|CHECK_CUDA_ERROR|gpuErrchk|cuda_check|"
    "check_cuda_error|printf|fprintf|fflush|NVTX_RANGE_FN|TORCH_WARN|TORCH_WARN_ONCE|FT_LOG_DEBUG|FT_LOG_INFO|"
    "TORCH_CUDABLAS_CHECK|cudaEventRecord|cudaSetDevice|MaybeSetDevice|CHECK_CUDA|CHECK_INPUT|CHECK_CONTIGUOUS|CHECK_DEVICE|"
    "CHECK_LAST_CUDA_ERROR|TORCH_INTERNAL_ASSERT_DEBUG_ONLY|exit|abort|cuda_async_check|PRINT_FUNC_NAME_|static_assert";

static const char memory_calls[] =
    "cudaMalloc|cudaMallocAsync|cudaFree|cudaFreeAsync|cudaMemset|cudaMemsetAsync|"
    "cudaMemcpyAsync|cudaFuncSetAttribute|cudaGetDevice|cudaGetDeviceProperties|cudaDeviceGetAttribute|"
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor";

static const char checks[] = "TORCH_CHECK|TORCH_INTERNAL_ASSERT|AT_ASSERT|AT_ASSERTM|AT_CHECK|assert|CHECK|"
                             "FT_CHECK|FT_CHECK_WITH_INFO|TORCH_CHECK_WITH|TORCH_CHECK_VALUE|GGML_ASSERT|"
                             "STD_TORCH_CHECK|DISPATCH_BOOL|TVM_FFI_ICHECK|TVM_FFI_CHECK|ICHECK";

static const char failures[] =
    "throw|ostringstream|AT_ERROR|TORCH_CHECK|abort|exit|FLASHINFER_ERROR|stringstream|"
    "TORCH_CHECK_NOT_IMPLEMENTED|FT_CHECK|FT_CHECK_WITH_INFO|runtime_error|cerr|__FILE__";

static const char device_wide[] = /* of cub: kernels of its own, and memory for them */
    "DeviceReduce|DeviceScan|DeviceSelect|DeviceRadixSort|DeviceMergeSort|DeviceHistogram|DevicePartition|"
    "DeviceSegmentedReduce|DeviceSegmentedSort|DeviceSegmentedRadixSort|DeviceRunLengthEncode|DeviceAllocate|DeviceFree";

void wrapper_line(struct wrapper_reader *r, const char *fmt, ...)
{
    va_list ap;

    str_addf(&r->out, "%*s", 4 * r->depth, "");
    va_start(ap, fmt);
    str_vaddf(&r->out, fmt, ap);
    va_end(ap);
    str_addc(&r->out, '\n');
}

/* The `;` of the statement at i, or `end`. */
static size_t semicolon(const struct wrapper_reader *r, size_t i, size_t end)
{
    while (i < end && !token_is(&r->v[i], ";"))
        i = wrapper_sign(&r->v[i], "( [ {") ? wrapper_skip(r->v, end, i) : i + 1;
    return i < end ? i : end;
}

bool wrapper_has_word(const struct wrapper_reader *r, size_t i, size_t end, const char *list)
{
    for (; i < end; i++) {
        if (token_in(&r->v[i], list))
            return true;
    }
    return false;
}

static void statements(struct wrapper_reader *r, size_t i, size_t end)
{
    while (i < end && r->depth < 60) {
        if (end == r->f.body_end && wrapper_is_afterwards(r, i, semicolon(r, i, end), memory_calls))
            return;
        size_t next = statement(r, i, end);
        i = next > i ? next : i + 1;
    }
}

static void braces(struct wrapper_reader *r, size_t first, size_t end) /* around statements [first, end) */
{
    wrapper_line(r, "{");
    r->depth++;
    statements(r, first, end);
    r->depth--;
    wrapper_line(r, "}");
}

/* A statement that stands for a branch: always in braces. Returns behind it. */
static size_t branch(struct wrapper_reader *r, size_t i, size_t end, bool written)
{
    struct str before = r->out;
    size_t next;

    if (!written)
        r->out = (struct str){0};
    if (token_is(&r->v[i], "{")) {
        next = wrapper_skip(r->v, end, i);
        braces(r, i + 1, next - 1);
    } else {
        wrapper_line(r, "{");
        r->depth++;
        next = statement(r, i, end);
        r->depth--;
        wrapper_line(r, "}");
    }
    if (!written) {
        str_free(&r->out);
        r->out = before;
    }
    return next;
}

/* What is left out is not looked into: it may not be understood. */
static size_t branch_skip(const struct wrapper_reader *r, size_t i, size_t end)
{
    if (token_is(&r->v[i], "{"))
        return wrapper_skip(r->v, end, i);
    if (token_in(&r->v[i], "if|for|while|switch")) {
        size_t open = i;
        while (open < end && !token_is(&r->v[open], "("))
            open++;
        size_t next = branch_skip(r, wrapper_skip(r->v, end, open), end);
        return next < end && token_is(&r->v[i], "if") && token_is(&r->v[next], "else")
                   ? branch_skip(r, next + 1, end)
                   : next;
    }
    size_t s = semicolon(r, i, end);
    return s < end ? s + 1 : end;
}

/* ---- dispatches over types */

static bool is_dtype_switch(const struct wrapper_reader *r, size_t first, size_t last)
{
    return wrapper_has_word(r, first, last, "scalar_type|dtype|ScalarType");
}

/* Which of the types a macro of this name offers: f16 where it has it. */
static const char *dispatched(struct wrapper_reader *r, const char *name)
{
    if (strstr(name, "INTEGRAL") || strstr(name, "INT_TYPES"))
        return "int";
    if (r->chosen)
        return r->chosen;
    if (strstr(name, "FLOATING_TYPES") && !strstr(name, "HALF") && !strstr(name, "AND") &&
        !strstr(name, "VLLM"))
        return "float";
    return "__half";
}

/* The `{` of the lambda in [first, last); 0: there is none. */
static size_t lambda_body(const struct wrapper_reader *r, size_t first, size_t last)
{
    for (size_t i = first; i + 2 < last; i++) {
        size_t k;
        if (!token_is(&r->v[i], "[") || !wrapper_sign(&r->v[i + 1], "& =") || !token_is(&r->v[i + 2], "]"))
            continue;
        for (k = i + 3; k < last && !token_is(&r->v[k], "{"); k++)
            ;
        return k < last ? k : 0;
    }
    return 0;
}

static void dispatch_body(struct wrapper_reader *r, const char *macro, const char *name, const char *spelled,
                          size_t body, size_t end)
{
    wrapper_line(r, "{");
    r->depth++;
    wrapper_line(r, "using %s = %s;", name, spelled);
    map_put(&r->alias, name, arena_strdup(r->arena, spelled));
    if (!r->chosen)
        r->chosen = spelled;
    wrapper_note(r, "%s: %s is %s here; for another type name the instance", macro, name, spelled);
    statements(r, body + 1, wrapper_skip(r->v, end, body) - 1);
    r->depth--;
    wrapper_line(r, "}");
}

/* AT_DISPATCH_SWITCH(type, "name", AT_DISPATCH_CASE(at::ScalarType::Half, [&] {...}) ...) */
static bool dispatch_cases(struct wrapper_reader *r, const char *macro, size_t open, size_t end)
{
    size_t best = 0;
    int best_type = -1, want = wrapper_dtype_of(wrapper_type_name(r, r->chosen ? r->chosen : "__half", NULL));

    for (size_t i = open; i < end; i++) {
        if (!token_is(&r->v[i], "AT_DISPATCH_CASE") || i + 1 >= end)
            continue;
        size_t item = wrapper_item(r->v, i + 2, end);
        int dtype = item ? wrapper_dtype(token_text(r->arena, &r->v[item - 1])) : -1;
        if (!best || dtype == want || (best_type != want && dtype == 6)) {
            best = i + 1;
            best_type = dtype;
        }
    }
    if (!best || !wrapper_dtype_spelled(best_type))
        return false;
    size_t body = lambda_body(r, best, wrapper_skip(r->v, end, best));
    if (!body)
        return false;
    dispatch_body(r, macro, "scalar_t", wrapper_dtype_spelled(best_type), body, end);
    return true;
}

/* NAME(type, ..., [&] {...}): the macro at i; true when it was written. */
static bool dispatch(struct wrapper_reader *r, size_t i, size_t end)
{
    size_t open = i + 1, close = wrapper_skip(r->v, end, open), body;
    char *name = token_text(r->arena, &r->v[i]);
    const char *alias = "scalar_t";

    if (!strstr(name, "DISPATCH") && !lambda_body(r, open, close))
        return false;
    if (dispatch_cases(r, name, open, close))
        return true;
    body = lambda_body(r, open, close);
    if (!body)
        return false;
    /* AT_DISPATCH_...(type, alias, "name", ...) as some frameworks have it */
    size_t second = wrapper_item(r->v, open + 1, close) + 1;
    if (second + 1 < close && r->v[second].kind == TOK_WORD && token_is(&r->v[second + 1], ","))
        alias = token_text(r->arena, &r->v[second]);
    if (strstr(name, "INDEX_TYPES"))
        alias = "index_t";
    dispatch_body(r, name, alias, dispatched(r, name), body, close);
    return true;
}

/* switch (x.scalar_type()) { case at::ScalarType::Half: {...} }: the case of the chosen type. */
static size_t type_switch(struct wrapper_reader *r, size_t body, size_t end)
{
    size_t close = wrapper_skip(r->v, end, body), best = 0;
    int want = wrapper_dtype_of(wrapper_type_name(r, r->chosen ? r->chosen : "__half", NULL)), best_type = -1;

    for (size_t i = body + 1; i + 1 < close; i++) {
        size_t colon = i;
        if (wrapper_sign(&r->v[i], "( [ {")) {
            i = wrapper_skip(r->v, close, i) - 1;
            continue;
        }
        if (!token_is(&r->v[i], "case"))
            continue;
        while (colon < close && !token_is(&r->v[colon], ":"))
            colon++;
        int dtype = wrapper_dtype(token_text(r->arena, &r->v[colon - 1]));
        if (!best || dtype == want || (best_type != want && dtype == 6)) {
            best = colon + 1;
            best_type = dtype;
        }
        i = colon;
    }
    if (best) {
        bool around = r->of_types;
        wrapper_line(r, "{");
        r->depth++;
        r->of_types = true;
        for (size_t i = best; i + 1 < close && !token_in(&r->v[i], "case|default|break");)
            i = statement(r, i, close - 1);
        r->of_types = around;
        r->depth--;
        wrapper_line(r, "}");
    }
    return close;
}

/* ---- statements */

/* The condition of a branch that is left alone: of sizes, it stays, and goes to the domain; of other things (a
 * flag, a pointer that is given) it is taken for true. */
static void only_where(struct wrapper_reader *r, size_t first, size_t last, bool holds)
{
    const char *text = wrapper_expr(r, first, last);

    if (holds && strstr(text, " == ")) /* one of several modes */
        return;
    wrapper_domain(r, first, last, holds);
    if (wrapper_over_dims(r, text))
        wrapper_line(r, holds ? "if (%s)" : "if (!(%s))", text);
}

/* `if (c) {these} else {those}`, where one of them is for other kernels alone: what is left of it. 0: neither
 * is. */
static size_t one_branch(struct wrapper_reader *r, size_t open, size_t then, size_t end)
{
    size_t otherwise = branch_skip(r, then, end), behind = otherwise;
    bool both = otherwise < end && token_is(&r->v[otherwise], "else"), first, second;
    char *text = wrapper_expr(r, open + 1, then - 1);

    if (both)
        behind = branch_skip(r, otherwise + 1, end);
    first = wrapper_is_of_others(r, then, otherwise);
    second = both && wrapper_is_of_others(r, otherwise + 1, behind);
    if (second && wrapper_says_kernel(r, then, otherwise)) {
        wrapper_note(r, "%s is launched where %s; other branches are left out", r->in->kernel->name, text);
        only_where(r, open + 1, then - 1, true);
        branch(r, then, end, true);
        return behind;
    }
    if (first && !both) {
        wrapper_note(r, "other kernels are launched where %s; that is left out", text);
        return behind;
    }
    if (first && both && wrapper_says_kernel(r, otherwise + 1, behind)) {
        wrapper_note(r, "%s is launched where not %s; other branches are left out", r->in->kernel->name, text);
        only_where(r, open + 1, then - 1, false);
        branch(r, otherwise + 1, end, true);
        return behind;
    }
    return 0;
}

/* `if (error != cudaSuccess) {...}`, which launches nothing, is left out; a call of the runtime in its
 * condition stays. */
static bool looks_at_error(struct wrapper_reader *r, size_t first, size_t last, size_t other)
{
    if (!wrapper_has_word(r, first, last, "cudaSuccess") || wrapper_says_launch(r, first, other))
        return false;
    for (size_t k = first; k + 1 < last; k++) {
        if (token_in(&r->v[k], memory_calls) && token_is(&r->v[k + 1], "("))
            wrapper_line(r, "%s;", wrapper_expr(r, k, wrapper_skip(r->v, last, k + 1)));
    }
    return true;
}

/* do {...} while (0), as macros have it: what stands in it. 0: it is another loop. */
static size_t once(struct wrapper_reader *r, size_t i, size_t end)
{
    const size_t body = i + 1, behind = token_is(&r->v[body], "{") ? wrapper_skip(r->v, end, body) : end;

    if (behind + 4 >= end || !token_is(&r->v[behind], "while") || !wrapper_sign(&r->v[behind + 2], "0 false") ||
        !token_is(&r->v[behind + 3], ")") || wrapper_has_word(r, body, behind, "break|continue"))
        return 0;
    braces(r, body + 1, behind - 1);
    return behind + 4 + token_is(&r->v[behind + 4], ";");
}

/* Does a statement of it give something a value? */
static bool assigns(const struct wrapper_reader *r, size_t i, size_t end)
{
    while (i < end && !(token_is(&r->v[i], "=") && r->v[i - 1].kind == TOK_WORD))
        i++;
    return i < end;
}

/* `if (x.scalar_type() == torch::kHalf) {...} else if (...)`, where nothing has said a type yet: the first one
 * of which the kernel is launched, and not double where there are others. */
static void choose_compared(struct wrapper_reader *r, size_t first, size_t last, size_t then, size_t other)
{
    if (r->chosen || !is_dtype_switch(r, first, last) || !wrapper_says_kernel(r, then, other))
        return;
    for (size_t k = first; k < last; k++) {
        const int dtype = wrapper_dtype(token_text(r->arena, &r->v[k]));
        const char *spelled = dtype >= 0 ? wrapper_dtype_spelled(dtype) : NULL;
        if (!spelled || (str_eq(spelled, "double") && token_is(&r->v[other], "else")))
            continue;
        r->chosen = spelled;
        wrapper_note(r, "the type is %s here, the first of several; for another one name the instance",
                     spelled);
        return;
    }
}

static size_t if_statement(struct wrapper_reader *r, size_t i, size_t end)
{
    bool is_constexpr = token_is(&r->v[i + 1], "constexpr");
    size_t open = i + 1 + is_constexpr, next = wrapper_skip(r->v, end, open), other;
    char *text;
    int known;

    /* if (...) throw: a check the other way round */
    other = branch_skip(r, next, end);
    if (wrapper_has_word(r, next, other, failures) && other < next + 80 &&
        !wrapper_says_launch(r, next, other) && !(other < end && token_is(&r->v[other], "else"))) {
        wrapper_domain(r, open + 1, next - 1, false);
        return other;
    }
    choose_compared(r, open + 1, next - 1, next, other);
    text = wrapper_expr(r, open + 1, next - 1);
    known = wrapper_constant(text);
    if (!(other < end && token_is(&r->v[other], "else")) && looks_at_error(r, open + 1, next - 1, other))
        return other;
    if (known >= 0) {
        size_t behind = other;
        if (known)
            branch(r, next, end, true);
        if (other < end && token_is(&r->v[other], "else")) {
            if (!known)
                return branch(r, other + 1, end, true);
            behind = branch_skip(r, other + 1, end);
        }
        return behind;
    }
    size_t chosen = is_constexpr || r->helper ? 0 : one_branch(r, open, next, end);
    if (chosen)
        return chosen;
    wrapper_line(r, "if %s(%s)", is_constexpr ? "constexpr " : "", text);
    next = branch(r, next, end, true);
    if (next < end && token_is(&r->v[next], "else")) {
        size_t behind = branch_skip(r, next + 1, end);
        if (wrapper_has_word(r, next + 1, behind, failures) && !wrapper_says_launch(r, next + 1, behind) &&
            !assigns(r, next + 1, behind))
            return behind;
        wrapper_line(r, "else");
        next = branch(r, next + 1, end, true);
    }
    return next;
}

/* The body of a loop or a switch: what breaks there leaves that. */
static size_t breakable(struct wrapper_reader *r, size_t i, size_t end)
{
    bool around = r->of_types;
    size_t next;

    r->of_types = false;
    next = branch(r, i, end, true);
    r->of_types = around;
    return next;
}

/* A loop that only compares the extents of two tensors gives the second one the first one's shape. Behind it;
 * i: it is another loop. */
static size_t compared(struct wrapper_reader *r, size_t i, size_t end)
{
    size_t body = wrapper_skip(r->v, end, i + 1), next = branch_skip(r, body, end);
    struct wrapper_tensor *x = NULL, *y = NULL;

    if (!wrapper_has_word(r, body, next, failures) || next > body + 120 || wrapper_says_launch(r, body, next))
        return i;
    for (size_t k = body; k + 2 < next; k++) {
        struct wrapper_tensor *t = wrapper_tensor_find(r, &r->v[k]);
        if (!t || !token_is(&r->v[k + 1], ".") || !token_in(&r->v[k + 2], "size|sizes"))
            continue;
        y = x ? t : NULL;
        x = x ? x : t;
    }
    if (y && y != x)
        y->like = x;
    return next;
}

static size_t for_statement(struct wrapper_reader *r, size_t i, size_t end)
{
    size_t next = compared(r, i, end);

    if (next > i)
        return next;
    next = wrapper_skip(r->v, end, i + 1);
    wrapper_line(r, "%s (%s)", token_text(r->arena, &r->v[i]), wrapper_expr(r, i + 2, next - 1));
    return breakable(r, next, end);
}

static size_t switch_statement(struct wrapper_reader *r, size_t i, size_t end)
{
    size_t next = wrapper_skip(r->v, end, i + 1);

    if (!token_is(&r->v[next], "{"))
        return branch_skip(r, next, end);
    if (is_dtype_switch(r, i + 1, next) ||
        wrapper_has_word(r, next, next + 8 < end ? next + 8 : end, "ScalarType"))
        return type_switch(r, next, end);
    wrapper_line(r, "switch (%s)", wrapper_expr(r, i + 2, next - 1));
    if (wrapper_says_kernel(r, next, wrapper_skip(r->v, end, next)))
        wrapper_cases_of_others(r, i + 2, next);
    return breakable(r, next, end);
}

static size_t label(struct wrapper_reader *r, size_t i, size_t end)
{
    size_t colon = i;
    bool fails;

    while (colon < end && !token_is(&r->v[colon], ":"))
        colon++;
    fails = token_is(&r->v[i], "default") && wrapper_has_word(r, colon, end, failures) &&
            !wrapper_has_word(r, colon, end, "case") && !wrapper_says_launch(r, colon, end);
    r->depth--;
    if (token_is(&r->v[i], "default"))
        wrapper_line(r, "default:%s", fails ? " return;" : "");
    else
        wrapper_line(r, "case %s:", wrapper_expr(r, i + 1, colon));
    r->depth++;
    return fails ? end : colon + 1;
}

/* Is it a macro that nothing of what was read defines around a call of the runtime, `TRY(cudaMalloc(&p, n))`?
 */
static bool checks_runtime(struct wrapper_reader *r, size_t i, size_t last)
{
    if (i + 3 >= last || r->v[i].kind != TOK_WORD || !token_is(&r->v[i + 1], "(") ||
        !token_is(&r->v[i + 3], "("))
        return false;
    const char *name = token_text(r->arena, &r->v[i]), *of = token_text(r->arena, &r->v[i + 2]);

    return str_starts(of, "cuda") && isupper((unsigned char)of[4]) &&
           (!init_named(r->source, name) || str_in(of, "cudaGetLastError|cudaPeekAtLastError")) &&
           wrapper_skip(r->v, last, i + 1) == last;
}

/* A call of a macro or function that only the framework needs. */
static bool needless(struct wrapper_reader *r, size_t i, size_t last)
{
    size_t name = i;

    while (name + 2 < last && token_is(&r->v[name + 1], "::"))
        name += 2;
    if (r->v[name].kind != TOK_WORD)
        return token_is(&r->v[i], "throw") ||
               (token_is(&r->v[i], "(") && wrapper_has_word(r, i, last, left_out));
    if (token_is(&r->v[i], "using") && token_is(&r->v[i + 1], "namespace") &&
        token_in(&r->v[last - 1], "at|c10|torch|cuda"))
        return true;
    if (token_in(&r->v[i], "throw|delete") || (token_is(&r->v[i], "std") && token_in(&r->v[name], "cout|cerr")))
        return true;
    if (last > name + 1 && !token_is(&r->v[name + 1], "("))
        return false;
    if (last > name + 1 && token_is(&r->v[wrapper_skip(r->v, last, name + 1)], "<<")) /* LOG(INFO) << x */
        return true;
    if (token_in(&r->v[name], left_out) || (checks_runtime(r, i, last) && !wrapper_says_launch(r, i, last)))
        return true;
    if (last == name + 1 && name == i) /* a macro without arguments that nobody defines */
        return !token_in(&r->v[i], "break|continue|return");
    char *text = token_text(r->arena, &r->v[name]);
    if ((strncasecmp(text, "check", 5) == 0 || str_starts(text, "TORCH_CHECK_") || strstr(text, "Guard")) &&
        !wrapper_says_launch(r, i, last))
        return true;
    return false;
}

static size_t simple(struct wrapper_reader *r, size_t i, size_t end)
{
    size_t last = semicolon(r, i, end), next = last < end ? last + 1 : end;
    struct wrapper_declaration d;
    bool call = i + 1 < last && r->v[i].kind == TOK_WORD && token_is(&r->v[i + 1], "(");

    if (i == last)
        return next;
    if (call && (token_in(&r->v[i], checks) || wrapper_check_pair(r, i))) {
        size_t behind = wrapper_skip(r->v, end, i + 1);
        wrapper_check(r, i + 1);
        return behind < last && !token_is(&r->v[behind], "<<") ? behind : next;
    }
    if (call && (strstr(token_text(r->arena, &r->v[i]), "DISPATCH") || lambda_body(r, i, last)) &&
        dispatch(r, i, end)) {
        size_t close = wrapper_skip(r->v, end, i + 1);
        return close < end && token_is(&r->v[close], ";") ? close + 1 : close;
    }
    if (token_is(&r->v[i], "return")) {
        wrapper_give_back(r, i + 1, last);
        if (r->helper)
            wrapper_line(r, "return %s;", wrapper_expr(r, i + 1, last));
        else if (next < r->f.body_end || r->depth > 1)
            wrapper_line(r, "return;");
        return next;
    }
    for (size_t k = i; k < last; k++) {
        if (r->v[k].kind == TOK_WORD && r->v[k].len > 6 &&
            (!memcmp(r->v[k].s, "cublas", 6) || !memcmp(r->v[k].s, "cudnn", 5) ||
             !memcmp(r->v[k].s, "curand", 6)))
            wrapper_lost(r, "it calls %s", token_text(r->arena, &r->v[k]));
    }
    if (r->of_types && token_is(&r->v[i], "break"))
        return next;
    if (checks_runtime(r, i, last) ||
        ((call || token_is(&r->v[i], "(")) && wrapper_has_word(r, i, i + 3 < last ? i + 3 : last, left_out))) {
        for (size_t k = i + 1; k + 1 < last; k++) { /* what is checked is done */
            if (token_in(&r->v[k], memory_calls) && token_is(&r->v[k + 1], "(")) {
                wrapper_line(r, "%s;", wrapper_expr(r, k, wrapper_skip(r->v, last, k + 1)));
                return next;
            }
        }
    }
    if (needless(r, i, last))
        return next;
    if (wrapper_has_word(r, i, last, device_wide)) {
        wrapper_note(r, "cub's device-wide work is left out");
        return next;
    }
    size_t open = i + 1;
    while (open + 2 < last && token_is(&r->v[open], "::"))
        open += 2;
    if (open > i + 1 && token_in(&r->v[i], "at|torch") && token_is(&r->v[open], "(") &&
        !wrapper_says_launch(r, i, last)) {
        wrapper_note(r, "%s, work of the framework's own, is left out", wrapper_text(r->arena, r->v, i, open));
        return next;
    }
    if (token_is(&r->v[i], "using") && i + 3 < last && token_is(&r->v[i + 2], "=")) {
        char *name = token_text(r->arena, &r->v[i + 1]), *what = wrapper_expr(r, i + 3, last);
        map_put(&r->alias, name, what);
        wrapper_line(r, "using %s = %s;", name, what);
        return next;
    }
    if (wrapper_declares(r, i, last, &d) && wrapper_declaration(r, &d))
        return next;
    if (token_in(&r->v[i], "cudaStream_t")) {
        vec_add(r->arena, &r->streams, token_text(r->arena, &r->v[last - 1]));
        return next;
    }
    if (wrapper_has_word(r, i, last, "getCurrentCUDAStream") && wrapper_has_word(r, i, last, "="))
        return next;
    wrapper_line(r, "%s;", wrapper_expr(r, i, last));
    return next;
}

static size_t statement(struct wrapper_reader *r, size_t i, size_t end)
{
    const struct token *t = &r->v[i];

    if (token_is(t, "{")) {
        size_t next = wrapper_skip(r->v, end, i);
        braces(r, i + 1, next - 1);
        return next;
    }
    size_t lambda = i + (token_is(t, "return") && !r->helper);
    size_t called = 0;
    while (lambda + 3 < end && token_is(&r->v[lambda], "(") && wrapper_sign(&r->v[lambda + 1], "( ["))
        lambda++;
    if (lambda + 2 < end && token_is(&r->v[lambda], "[") && wrapper_sign(&r->v[lambda + 1], "& =") &&
        token_is(&r->v[lambda + 2], "]")) /* and not [[maybe_unused]] */
        called = lambda_body(r, lambda, end);
    if (called) { /* [&] {...}(); and ([&] {...})(); of dispatch macros, and return [&] {...}(); within them */
        size_t next = wrapper_skip(r->v, end, called);
        braces(r, called + 1, next - 1);
        next = semicolon(r, next, end);
        return next < end ? next + 1 : end;
    }
    if (token_is(t, "if"))
        return if_statement(r, i, end);
    if (token_in(t, "for|while"))
        return for_statement(r, i, end);
    if (token_is(t, "switch"))
        return switch_statement(r, i, end);
    if (token_in(t, "case|default"))
        return label(r, i, end);
    if (token_is(t, "do")) {
        size_t next = once(r, i, end);
        if (next)
            return next;
    }
    return simple(r, i, end);
}

void wrapper_body(struct wrapper_reader *r)
{
    r->depth = 1;
    statements(r, r->f.body + 1, r->f.body_end);
    r->depth = 0;
}
