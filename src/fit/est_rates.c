/* SPDX-License-Identifier: MIT */
/*
 * est_rates.c - lines through some exchanges: the first, the last, the best of each window
 *
 * Source  Clement 2009, section 4, equation 1, on his references 12, 16 (Prism), 17 and 18 (IBM
 *         SP); Loeser: Measuring microsecond delays (2003), section 3.2, for interval
 *
 * first-offset keeps the offset of the first exchange, as where a monitoring node asks the time
 * when tracing starts: what the clock gains from then on is the method's error. interval is the
 * line through the first and the last one.
 *
 * A couple (G, L) per window is the reference and local stamp at the middle of its fastest
 * exchange. Then the rate R of the reference against the local clock is
 *
 *     rate-ratio     sqrt(mean of (dG/dL)^2) over neighbouring couples
 *     rate-last      (G_N - G_0)/(L_N - L_0)
 *     rate-segments  dG/dL of the two couples around each moment
 *
 * and the line starts at (G_0, L_0). The offset's slope is r = R - 1 = d(offset)/dL, which is what
 * is computed, as R itself has no digits left for it: with m = mean(2 r + r^2) the first one is
 * sqrt(1 + m) - 1 = m/(1 + sqrt(1 + m)).
 */
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>

static long double slope_of(const struct usk_couple *from, const struct usk_couple *to)
{
	return usk_real(to->offset2 - from->offset2) / usk_real(to->local2 - from->local2);
}

static enum usk_status first_offset(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				    struct usk_err *err)
{
	struct usk_couple first, last;
	if (!usk_couple_ends(fit, &first, &last)) {
		return usk_fail(err, USK_EINPUT, 0, USK_NO_EXCHANGE, "first-offset");
	}
	return usk_fit_from_couple(fit, &first, 0, out, n);
}

static enum usk_status interval(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	struct usk_couple x, y;
	if (!usk_couple_ends(fit, &x, &y)) {
		return usk_fail(err, USK_EINPUT, 0, USK_NO_EXCHANGE, "interval");
	}
	if (x.local2 == y.local2) {
		return usk_fail(err, USK_EINPUT, 0,
				"interval needs a first and a last exchange at two times");
	}
	return usk_fit_from_couple(fit, &y, slope_of(&x, &y), out, n);
}

/* sqrt(mean of R^2) - 1 */
static long double quadratic_mean(const struct usk_couple *c, size_t n)
{
	long double m = 0;
	for (size_t i = 1; i < n; i++) {
		long double r = slope_of(&c[i - 1], &c[i]);
		m += r * (2 + r);
	}
	m /= (long double)(n - 1);
	m = m < -1 ? -1 : m; /* it is a square - 1 */
	return m / (1 + sqrtl(1 + m));
}

static long double to_last(const struct usk_couple *c, size_t n)
{
	return slope_of(&c[0], &c[n - 1]);
}

/* From the first couple at a slope of them all; NULL: through each. */
static enum usk_status by_windows(const struct usk_fit *fit,
				  long double (*slope)(const struct usk_couple *c, size_t n),
				  struct usk_knot **out, size_t *n, struct usk_err *err)
{
	struct usk_couple *c = usk_couples(fit, n);
	enum usk_status status = USK_OK;
	if (!*n) {
		status = usk_fail(err, USK_EINPUT, 0, USK_NO_EXCHANGE, fit->by->name);
	} else if (*n < 2) {
		status = usk_fail(err, USK_EINPUT, 0,
				  "%s needs exchanges in two windows of %g s, and all are in one",
				  fit->by->name, (double)usk_fit_window(fit) * 1e-9);
	} else if (slope) {
		status = usk_fit_from_couple(fit, &c[0], slope(c, *n), out, n);
	} else {
		/* Rounded down, local stamps stay distinct: windows begin at integers. */
		*out = usk_alloc(*n, sizeof **out);
		for (size_t i = 0; i < *n; i++) {
			(*out)[i] = usk_couple_knot(&c[i]);
		}
	}
	free(c);
	return status;
}

static enum usk_status rate_ratio(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				  struct usk_err *err)
{
	return by_windows(fit, quadratic_mean, out, n, err);
}

static enum usk_status rate_last(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				 struct usk_err *err)
{
	return by_windows(fit, to_last, out, n, err);
}

static enum usk_status rate_segments(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				     struct usk_err *err)
{
	return by_windows(fit, NULL, out, n, err);
}

USK_ESTIMATOR(interval, "interval", "Loeser 2003, section 3.2",
	      "the line through the first and the last exchange", true, .estimate = interval);
USK_ESTIMATOR(first_offset, "first-offset", "Clement et al. 2009, section 4, reference 12",
	      "the offset of the first exchange all along", true, .estimate = first_offset);
USK_ESTIMATOR(
	rate_ratio, "rate-ratio",
	"Clement et al. 2009, section 4, equation 1, references 17 and 18",
	"from the first window's best exchange at the quadratic mean of the rates between windows",
	true, .estimate = rate_ratio);
USK_ESTIMATOR(rate_last, "rate-last", "Clement et al. 2009, section 4, references 17 and 18",
	      "through the best exchanges of the first and the last window", true,
	      .estimate = rate_last);
USK_ESTIMATOR(rate_segments, "rate-segments",
	      "Clement et al. 2009, section 4, references 16 (Prism) to 18",
	      "lines between the best exchanges of the windows", true, .estimate = rate_segments);
