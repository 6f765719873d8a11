/* mcp: a server of the Model Context Protocol over stdin and stdout, so that somebody's coding agent has
 * Astra's judge as tools. docs/models.md says what it offers and what it refuses. It speaks revision
 * 2026-07-28, in which each request says its revision, and the handshake of 2024-11-05 to 2025-11-25. */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "base/base.h"

struct mcp_options {
    const char *const *roots; /* folders below which files may be read; the first is that of relative paths */
    size_t n_roots;
    const char *runs; /* where runs and scratch folders are made; need not be there yet */
};

/* Serves until stdin ends or a signal asks it to; what runs then is stopped resumably. False: it could not
 * begin, or stdout failed. */
bool mcp_serve(const struct mcp_options *o, struct err *err);

/* ---- JSON-RPC 2.0, one message a line ---- */

enum { MCP_LINE_BYTES = 4 << 20 }; /* of one message; a longer one is refused */

enum mcp_code { /* of errors */
                MCP_NOT_JSON = -32700,
                MCP_NOT_A_REQUEST = -32600,
                MCP_NO_METHOD = -32601,
                MCP_BAD_PARAMS = -32602,
                MCP_NO_REVISION = -32022, /* of the specification: UnsupportedProtocolVersion */
};

enum mcp_kind {
    MCP_REQUEST,
    MCP_NOTIFICATION,
    MCP_NOTHING, /* an empty line, or an answer to what nobody asked */
    MCP_BROKEN,  /* its answer is in `answer` */
};

struct mcp_message {
    json_t *all;          /* owner of what is below; mcp_message_free */
    const json_t *id;     /* of a request */
    const json_t *params; /* an object, or NULL */
    const json_t *token;  /* where progress is to be told; NULL: nowhere */
    const char *method;
    const char *revision; /* that the request names in its _meta; NULL: it goes by the handshake */
    json_t *answer;       /* of MCP_BROKEN; the caller's */
};

enum mcp_kind mcp_message_read(const char *line, size_t len, struct mcp_message *m);
void mcp_message_free(struct mcp_message *m);
/* The answer to a request. data may be NULL; it is taken. */
json_t *mcp_error(const json_t *id, enum mcp_code code, json_t *data, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Bytes into lines. */
struct mcp_lines {
    struct str text;
    size_t at;     /* where the next line begins */
    bool skipping; /* the rest of a line that was too long */
};
enum mcp_line { MCP_NO_LINE, MCP_LINE, MCP_LONG_LINE };
void mcp_lines_add(struct mcp_lines *l, const char *bytes, size_t n);
/* The next whole line; it counts until more is added. A line that is too long is told once. */
enum mcp_line mcp_lines_next(struct mcp_lines *l, const char **line, size_t *len);
void mcp_lines_free(struct mcp_lines *l);

#endif
