/* SQLite as the files of this folder use it. */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include "store.h"

#include <sqlite3.h>

struct store {
    sqlite3 *db;
    char *path;
    const char *what, *busy, *full, *broken; /* "run"; what to do about each, for messages */
    int lock_fd;                             /* of store_lock; -1: this process does not write the run */
};

bool sql_fail(struct store *s, struct err *err); /* says what SQLite says */
bool sql_execute(struct store *s, const char *sql, struct err *err);
bool sql_number(struct store *s, const char *query, int64_t *number, struct err *err); /* its one answer */
/* The columns of a row added, or put in the place of the row with the same key. */
bool sql_put_row(struct store *s, const char *table, const struct member *columns, const void *row,
                 struct err *err);
/* All rows by id, structs of `size` bytes in the arena; NULL on failure. */
void *sql_rows(struct store *s, struct arena *a, const char *table, const struct member *columns, size_t size,
               size_t *n, struct err *err);
/* The first row of a query with one parameter: its last column, and in *id the first of two. NULL: no row. */
bool sql_find(struct store *s, struct arena *a, const char *sql, const char *key, int *id, const char **text,
              struct err *err);

#endif
