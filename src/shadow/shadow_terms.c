/* Beside each value, in the place of what it would be in double: the sum of the squares of its terms. Numbers
 * that came from outside have none, nor have sums of them: there is nothing to round before they are added. A
 * product of two such numbers is a term, and so is every value of a transcendental function. Terms that are
 * added, in whatever order and with whatever in between, leave the sum of their squares. What is multiplied,
 * divided or put into a function takes its terms with it, to first order. So u times the root is what the
 * answer is off when each of its terms was rounded once, to a type with the unit u; rounding the sum again and
 * again errs by more, leaving terms out by much more.
 *
 * Or the sum of the sizes of all terms, whoever made them: what lies between two sums of the same numbers in
 * another order, each addition rounded in the type of the sum, is a small multiple of u times that. What is no
 * sum has none. */
#include "shadow_value.h"

enum { LOST = 2048 }; /* halves of the last place in 1, in half precision */

/* The square of a result as a term of its own. Below the smallest normal number the error of rounding does not
 * become smaller, before all of the number is lost. */
static double fresh(const struct ptx_shadow *s, double result)
{
    double size = fabs(result);

    if (s->terms == PTX_TERMS_SIZES)
        return 0;
    size = fmax(size, fmin(s->smallest, size * LOST));
    return size * size;
}

static double carried(const struct ptx_shadow *s, double slope, double q)
{
    double terms = (s->terms == PTX_TERMS_SIZES ? fabs(slope) : slope * slope) * q;

    return isfinite(terms) ? terms : 0;
}

static double slope_of(enum real_kind kind, double x, double result)
{
    switch (kind) {
    case REAL_RCP:
        return result * result;
    case REAL_SQRT:
        return 0.5 / result;
    case REAL_RSQRT:
        return 0.5 * result / x;
    case REAL_SIN:
        return cos(x);
    case REAL_COS:
        return sin(x);
    case REAL_LG2:
        return M_LOG2E / x;
    case REAL_EX2:
        return M_LN2 * result;
    default: /* tanh */
        return 1 - result * result;
    }
}

double shadow_terms_function(const struct ptx_shadow *s, enum real_kind kind, uint8_t format, const double x[3],
                             const double q[3])
{
    double r;

    switch (kind) {
    case REAL_ADD:
    case REAL_SUB:
        return shadow_terms_sum(s, format, x[0], q[0], x[1], q[1]);
    case REAL_MUL:
        return shadow_terms_product(s, x[0], q[0], x[1], q[1]);
    case REAL_FMA:
        return shadow_terms_sum(s, format, x[0] * x[1], shadow_terms_product(s, x[0], q[0], x[1], q[1]), x[2],
                                q[2]);
    case REAL_DIV:
        return shadow_terms_product(s, x[0], q[0], 1 / x[1], carried(s, 1 / (x[1] * x[1]), q[1]));
    case REAL_ABS:
    case REAL_NEG:
        return q[0];
    case REAL_COPYSIGN:
        return q[1];
    case REAL_RCP:
    case REAL_SQRT:
    case REAL_RSQRT:
        r = shadow_real_function(kind, x[0], 0, 0);
        if (s->terms != PTX_TERMS_SIZES && !(q[0] > 0))
            return r * r;
        return carried(s, slope_of(kind, x[0], r), q[0]);
    default:
        r = shadow_real_function(kind, x[0], 0, 0);
        return fmax(fresh(s, r), carried(s, slope_of(kind, x[0], r), q[0]));
    }
}

double shadow_terms_of(const struct ptx_shadow *s, double (*f)(const void *of, const double *x), const void *of,
                       unsigned n, bool power, const double *x, const double *q)
{
    double most = power && (q[0] > 0 || (n > 1 && q[1] > 0)) ? 0 : fresh(s, f(of, x));

    for (unsigned a = 0; a < n; a++) {
        double step = fmax(fabs(x[a]), 0x1p-10) * 0x1p-20, to[2] = {x[0], n > 1 ? x[1] : 0}, above, below;
        if (q[a] == 0)
            continue;
        to[a] = x[a] + step;
        above = f(of, to);
        to[a] = x[a] - step;
        below = f(of, to);
        most = fmax(most, carried(s, (above - below) / (2 * step), q[a]));
    }
    return most;
}
