/* The one place that includes cmocka, whose header wants these others before it, in this order. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = true };
#else
enum { SANITIZED = false };
#endif

/* Whether a row of a long table is tried by this call: of every three `make check` tries one, PART=drawn, and
 * `make check-rest` the others, PART=rest. */
static inline bool row_is_tried(size_t row)
{
    const char *part = getenv("PART");

    return !part || str_eq(part, "all") || str_eq(part, "drawn") == (row % 3 == 0);
}

#define assert_ok(call, err)                                                            \
    do {                                                                                \
        if (!(call)) {                                                                  \
            char text_[4096];                                                           \
            fail_msg("%s failed: %s", #call, err_format(&(err), text_, sizeof(text_))); \
        }                                                                               \
    } while (0)

#endif
