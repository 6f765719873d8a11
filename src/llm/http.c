/* HTTP by libcurl, several exchanges in one thread. libcurl is loaded when the first exchange needs it, as
 * NVRTC is: the program runs without it where no model is asked over a network (docs/architecture.md).
 *
 * The waiting is our own: curl says which sockets it watches and when it wants to be called (its socket
 * interface), we poll. So a signal is seen as one, which curl's own wait hides.
 */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <strings.h>

#include "llm/internal.h"

#define FUNCTIONS(F)       \
    F(global_init)         \
    F(version_info)        \
    F(easy_init)           \
    F(easy_cleanup)        \
    F(easy_setopt)         \
    F(easy_getinfo)        \
    F(easy_strerror)       \
    F(multi_init)          \
    F(multi_cleanup)       \
    F(multi_setopt)        \
    F(multi_add_handle)    \
    F(multi_remove_handle) \
    F(multi_socket_action) \
    F(multi_info_read)     \
    F(slist_append)        \
    F(slist_free_all)      \
    F(getdate)

static struct {
    void *library;
#define F(name) __typeof__(curl_##name) *name;
    FUNCTIONS(F)
#undef F
} curl;

static bool curl_load(struct err *err)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"};
    void *library = NULL;

    if (curl.library)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(names) && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_world(err,
                         "libcurl is missing, and models are asked through it: install it (package libcurl4)");
#define F(name)                                                              \
    *(void **)&curl.name = dlsym(library, "curl_" #name);                    \
    if (!curl.name) {                                                        \
        dlclose(library);                                                    \
        return err_world(err, "this libcurl is too old: no curl_%s", #name); \
    }
    FUNCTIONS(F)
#undef F
    if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        dlclose(library);
        return err_world(err, "libcurl does not start");
    }
    curl.library = library;
    return true;
}

bool http_version(struct str *text)
{
    struct err err = {0};
    const curl_version_info_data *v;

    if (!curl_load(&err)) {
        str_add(text, err.text);
        return false;
    }
    v = curl.version_info(CURLVERSION_NOW);
    str_addf(text, "%s, %s%s%s", v->version, v->ssl_version ? v->ssl_version : "without TLS",
             v->features & CURL_VERSION_HTTP2 ? ", HTTP/2" : "",
             v->features & CURL_VERSION_LIBZ ? ", gzip" : "");
    return true;
}

double http_date_seconds(const char *text)
{
    char *end;
    double s = strtod(text, &end);
    time_t at;

    if (end > text && end[strspn(end, " \t")] == '\0')
        return s >= 0 && s < 1e9 ? s : NAN;
    at = curl.library ? curl.getdate(text, NULL) : (time_t)-1;
    return at == (time_t)-1 ? NAN : MAX(0.0, difftime(at, time(NULL)));
}

struct http_exchange {
    struct http *http;
    CURL *easy;
    struct curl_slist *headers;
    char *body, error[CURL_ERROR_SIZE];
    void *context;
    void (*data)(void *context, const char *bytes, size_t n);
    struct http_response r;
};

struct http {
    CURLM *multi;
    VEC(struct pollfd) watched; /* as curl asked */
    double due_s;               /* when curl wants to be called; INFINITY: not at all */
    bool news;
};

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *of_socket)
{
    struct http *h = context;
    size_t i = 0;
    struct pollfd p = {fd, 0, 0};

    (void)easy;
    (void)of_socket;
    while (i < h->watched.n && h->watched.v[i].fd != fd)
        i++;
    if (what == CURL_POLL_REMOVE) {
        if (i < h->watched.n)
            h->watched.v[i] = h->watched.v[--h->watched.n];
        return 0;
    }
    p.events = (short)((what & CURL_POLL_IN ? POLLIN : 0) | (what & CURL_POLL_OUT ? POLLOUT : 0));
    if (i < h->watched.n)
        h->watched.v[i] = p;
    else
        vec_push(&h->watched, p);
    return 0;
}

static int on_timer(CURLM *multi, long wait_ms, void *context)
{
    struct http *h = context;

    (void)multi;
    h->due_s = wait_ms < 0 ? INFINITY : time_s() + (double)wait_ms * 1e-3;
    return 0;
}

/* Workers and commands are started while a model answers, and are not to hold its connection. */
static int on_open(void *context, curl_socket_t fd, curlsocktype purpose)
{
    (void)context;
    (void)purpose;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return CURL_SOCKOPT_OK;
}

static size_t on_data(char *bytes, size_t size, size_t n, void *context)
{
    struct http_exchange *x = context;

    x->r.last_byte_s = time_s();
    x->http->news = true;
    x->data(x->context, bytes, size * n);
    return size * n;
}

static bool header_value(const char *line, size_t n, const char *name, char *to, size_t size)
{
    size_t len = strlen(name);

    if (n <= len || strncasecmp(line, name, len) != 0)
        return false;
    line += len;
    n -= len;
    while (n && strchr(" \t", *line)) {
        line++;
        n--;
    }
    while (n && strchr("\r\n \t", line[n - 1]))
        n--;
    n = MIN(n, size - 1);
    memcpy(to, line, n);
    to[n] = '\0';
    return true;
}

static size_t on_header(char *line, size_t size, size_t n, void *context)
{
    struct http_exchange *x = context;
    char value[128];

    n *= size;
    x->r.last_byte_s = time_s();
    if (n > 5 &&
        memcmp(line, "HTTP/", 5) == 0) { /* the next response: a proxy's or an interim one came before */
        x->r.content_type[0] = x->r.location[0] = '\0';
        x->r.retry_after_s = NAN;
    }
    header_value(line, n, "content-type:", x->r.content_type, sizeof(x->r.content_type));
    header_value(line, n, "location:", x->r.location, sizeof(x->r.location));
    if (header_value(line, n, "retry-after:", value, sizeof(value)))
        x->r.retry_after_s = http_date_seconds(value);
    if (header_value(line, n, "retry-after-ms:", value, sizeof(value)))
        x->r.retry_after_s = http_date_seconds(value) * 1e-3;
    return n;
}

bool http_open(struct http **out, struct err *err)
{
    struct http *h;

    if (!curl_load(err))
        return false;
    h = mem_zalloc(sizeof(*h));
    h->multi = curl.multi_init();
    BUG_IF(!h->multi);
    h->due_s = INFINITY;
    curl.multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl.multi_setopt(h->multi, CURLMOPT_SOCKETDATA, (void *)h);
    curl.multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl.multi_setopt(h->multi, CURLMOPT_TIMERDATA, (void *)h);
    *out = h;
    return true;
}

void http_close(struct http *h)
{
    if (!h)
        return;
    curl.multi_cleanup(h->multi);
    vec_free(&h->watched);
    free(h);
}

struct http_exchange *http_start(struct http *h, const struct http_request *q)
{
    struct http_exchange *x = mem_zalloc(sizeof(*x));

    x->http = h;
    x->context = q->context;
    x->data = q->data;
    x->r.retry_after_s = NAN;
    x->r.last_byte_s = time_s();
    x->easy = curl.easy_init();
    BUG_IF(!x->easy);
    for (size_t i = 0; i < q->n_headers; i++)
        x->headers = curl.slist_append(x->headers, q->headers[i]);
    x->headers = curl.slist_append(x->headers, "Expect:");
#define SET(option, value) curl.easy_setopt(x->easy, option, value)
    SET(CURLOPT_URL, q->url);
    SET(CURLOPT_HTTPHEADER, x->headers);
    if (q->body) {
        x->body = mem_alloc(q->body_len + 1);
        memcpy(x->body, q->body, q->body_len);
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDS, x->body);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_len);
    }
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_SOCKOPTFUNCTION, on_open);
#if LIBCURL_VERSION_NUM >= 0x075700 /* an abandoned look-up of a name is not waited for */
    SET(CURLOPT_QUICK_EXIT, 1L);
#endif
    SET(CURLOPT_FOLLOWLOCATION, 0L); /* a redirect would take the key along */
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    SET(CURLOPT_ACCEPT_ENCODING, "");
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_USERAGENT, "astra/" ASTRA_VERSION);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)(q->connect_s * 1e3) + 1);
    if (q->ca_file)
        SET(CURLOPT_CAINFO, q->ca_file);
    if (q->proxy)
        SET(CURLOPT_PROXY, q->proxy); /* "" is none; else curl reads the environment */
    SET(CURLOPT_WRITEFUNCTION, on_data);
    SET(CURLOPT_WRITEDATA, (void *)x);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, (void *)x);
    SET(CURLOPT_ERRORBUFFER, x->error);
    SET(CURLOPT_PRIVATE, (void *)x);
#undef SET
    BUG_IF(curl.multi_add_handle(h->multi, x->easy) != CURLM_OK);
    return x;
}

const struct http_response *http_look(const struct http_exchange *x)
{
    return &x->r;
}

void http_stop(struct http_exchange *x)
{
    if (!x)
        return;
    curl.multi_remove_handle(x->http->multi, x->easy);
    curl.easy_cleanup(x->easy);
    for (struct curl_slist *s = x->headers; s; s = s->next) /* one of them holds the key */
        explicit_bzero(s->data, strlen(s->data));
    curl.slist_free_all(x->headers);
    free(x->body);
    free(x);
}

long http_status(const struct http_exchange *x)
{
    long status = 0;

    curl.easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static enum http_end end_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return HTTP_COMPLETE;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        return HTTP_UNREACHABLE;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
        return HTTP_UNTRUSTED;
    default:
        return HTTP_BROKEN;
    }
}

static void collect_ends(struct http *h)
{
    CURLMsg *m;
    int left;

    while ((m = curl.multi_info_read(h->multi, &left))) {
        char *private = NULL;
        struct http_exchange *x;
        if (m->msg != CURLMSG_DONE)
            continue;
        curl.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &private);
        x = (struct http_exchange *)(void *)private;
        x->r.status = http_status(x);
        x->r.end = end_of(m->data.result);
        if (x->r.end != HTTP_COMPLETE)
            snprintf(x->r.words, sizeof(x->r.words), "%s",
                     x->error[0] ? x->error : curl.easy_strerror(m->data.result));
        h->news = true;
    }
}

static void act(struct http *h, const struct pollfd *ready, size_t n)
{
    int running;

    for (size_t i = 0; i < n; i++) {
        int mask = (ready[i].revents & (POLLIN | POLLHUP) ? CURL_CSELECT_IN : 0) |
                   (ready[i].revents & POLLOUT ? CURL_CSELECT_OUT : 0) |
                   (ready[i].revents & (POLLERR | POLLNVAL) ? CURL_CSELECT_ERR : 0);
        if (mask)
            curl.multi_socket_action(h->multi, ready[i].fd, mask, &running);
    }
    if (time_s() >= h->due_s) {
        h->due_s = INFINITY;
        curl.multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    collect_ends(h);
}

bool http_wait(struct http *h, double wait_s)
{
    double end_s = time_s() + wait_s;
    struct pollfd *copy = NULL;
    bool quiet = true;

    h->news = false;
    do {
        double left_s = MIN(end_s, h->due_s) - time_s();
        size_t n = h->watched.n;
        int ready;
        copy = mem_realloc(copy, (n + 1) * sizeof(*copy));
        if (n)
            memcpy(copy, h->watched.v, n * sizeof(*copy));
        ready = poll(copy, n, left_s > 0 ? (int)(MIN(left_s, 3600.0) * 1e3) + 1 : 0);
        if (ready < 0 && errno == EINTR) {
            quiet = false;
            break;
        }
        act(h, copy, ready > 0 ? n : 0);
    } while (!h->news && time_s() < end_s);
    free(copy);
    return quiet;
}
