/* Where a key is, and where a request goes. */
#include "llm/internal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* The authority's host and port; false when url is not http(s), or carries a user or a password. */
bool url_host(const char *url, char *host, size_t size)
{
    bool tls = strncasecmp(url, "https://", 8) == 0, known = tls || strncasecmp(url, "http://", 7) == 0;
    const char *p = url + (tls ? 8 : 7);
    size_t n = known ? strcspn(p, "/?#") : 0;

    if (!n || n >= size || memchr(p, '@', n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (isspace((unsigned char)p[i]) || iscntrl((unsigned char)p[i]))
            return false;
    memcpy(host, p, n);
    host[n] = '\0';
    return true;
}

bool url_is_loopback(const char *url)
{
    char host[256];

    if (!url_host(url, host, sizeof(host)))
        return false;
    if (host[0] == '[')
        return str_starts(host, "[::1]");
    host[strcspn(host, ":")] = '\0';
    return strcasecmp(host, "localhost") == 0 || str_starts(host, "127.");
}

void key_free(char *key)
{
    if (key)
        explicit_bzero(key, strlen(key));
    free(key);
}

/* A key goes into a header: one line of printable characters. */
static bool key_take(const char *text, const char *where, char **key, struct err *err)
{
    size_t n;

    while (isspace((unsigned char)*text))
        text++;
    n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    if (!n)
        return err_input(err, "%s holds no key", where);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7f)
            return err_input(err, "%s holds no key: a key is one line without spaces", where);
    *key = mem_alloc(n + 1);
    memcpy(*key, text, n);
    (*key)[n] = '\0';
    return true;
}

static bool key_from_file(const char *path, char **key, struct err *err)
{
    char text[4096];
    struct stat st;
    ssize_t n = 0;
    bool ok;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return err_world(err, "cannot read the key file %s: %s", path, strerror(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_input(err, "the key file %s is not a file", path);
    }
    if (st.st_mode & (S_IRWXG | S_IRWXO)) {
        close(fd);
        return err_input(err, "the key file %s can be read by others: chmod 600 %s", path, path);
    }
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n < 0)
        return err_world(err, "cannot read the key file %s: %s", path, strerror(errno));
    text[n] = '\0';
    ok = key_take(text, path, key, err);
    explicit_bzero(text, sizeof(text));
    return ok;
}

bool key_find(const struct llm_config *c, const struct provider *p, char **key, struct err *err)
{
    const char *url = c->base_url ? c->base_url : p->wire->base_url;
    const char *name = c->key_env ? c->key_env : p->key_env, *value;

    *key = NULL;
    if (c->key_file)
        return key_from_file(c->key_file, key, err);
    /* The usual key follows to an address the user gave, but not in clear text to another machine. */
    if (!c->key_env && c->base_url && strncasecmp(url, "https://", 8) != 0 && !url_is_loopback(url))
        return true;
    value = name ? getenv(name) : NULL;
    if (value && *value)
        return key_take(value, name, key, err);
    if (c->key_env)
        return err_input(err, "the environment variable %s, named for the key, is not set", name);
    if (!c->base_url)
        return err_input(err, "%s needs a key: set %s, or name a file with it (--key-file)", p->name, name);
    return true;
}
