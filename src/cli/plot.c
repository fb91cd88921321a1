/* SPDX-License-Identifier: MIT */
/*
 * plot.c - a clock's corridor on a terminal
 *
 * In    the answer: the corridor of the pair that ties the clock, both clocks' corrections
 * Out   lines of braille, or of ASCII: above, messages that the clock sent, at their corrected
 *       delay; below, those that it received; the estimate between them
 * Why   one look tells whether the corridor is even, has holes, or is touched by the estimate
 * Not   the page (report), which shows all of it
 *
 * A message that took d puts the offset at most d over or under the estimate, so of each column
 * the smallest d above and below are what bounds it.
 */
#include "print.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>

enum { ROWS = 8, GUTTER = 10, NARROWEST = 40, WIDEST = 120 };

/* Dots: 2 x 4 to a character, in ASCII 1 x 2. */
struct plot {
	size_t wide, high; /* of a character, in dots */
	size_t columns;	   /* characters */
	int64_t *least[2]; /* of each column of dots: above, below; INT64_MAX none */
	int64_t first_ns, last_ns;
	int64_t reach_ns; /* of the axis, either way */
	uint8_t *dot;	  /* columns x ROWS masks */
};

uint32_t plot_choose(const struct usk_clocks *c)
{
	uint32_t best = USK_NO_CLOCK;
	int64_t widest = -1;
	for (size_t i = 0; i < c->n_clocks; i++) {
		bool bounded = c->clock[i].quality == USK_BOUNDED;
		int64_t mean = bounded ? usk_band_widths(&c->clock[i]).mean_ns : -1;
		best = mean > widest ? (uint32_t)i : best;
		widest = mean > widest ? mean : widest;
	}
	return best;
}

int plot_columns(FILE *to)
{
	struct winsize size;
	if (!ioctl(fileno(to), TIOCGWINSZ, &size) && size.ws_col) {
		return size.ws_col;
	}
	const char *columns = getenv("COLUMNS");
	int n = columns ? atoi(columns) : 0;
	return n > 0 ? n : 80;
}

bool plot_unicode(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *value = getenv(names[i]);
		if (value && *value) {
			return strcasestr(value, "UTF-8") || strcasestr(value, "utf8");
		}
	}
	return false;
}

/* ---- what is drawn --------------------------------------------------------------------- */

static size_t column_of(const struct plot *p, int64_t t)
{
	usk_i128 n = (usk_i128)(p->columns * p->wide);
	usk_i128 at = ((usk_i128)t - p->first_ns) * n / ((usk_i128)p->last_ns - p->first_ns + 1);
	return (size_t)(at < 0 ? 0 : at >= n ? n - 1 : at);
}

/* A stamp on the common timeline; map NULL is the reference's. */
static bool correct(const struct usk_map *map, int64_t t, int64_t *out)
{
	struct usk_stamp s = { .reference_ns = t };
	if (map && (usk_map_at(map, t, &s, NULL) || s.reference_ns == USK_NONE)) {
		return false;
	}
	*out = s.reference_ns;
	return true;
}

/* A side of a pair's corridor: its messages' delays, at the stamps of the clock that is drawn. */
static void add_side(struct plot *p, const struct usk_pair *pair, bool ceiling, bool drawn_is_b,
		     const struct usk_map *map_a, const struct usk_map *map_b)
{
	const struct usk_point *x = ceiling ? pair->ceiling : pair->floor;
	size_t n = ceiling ? pair->n_ceiling : pair->n_floor;
	/* Ceilings are sent by b. What the drawn clock sent bounds it from above. */
	int64_t *least = p->least[ceiling == drawn_is_b ? 0 : 1];
	for (size_t i = 0; i < n; i++) {
		int64_t a, b, on_a = usk_saturate((usk_i128)x[i].local_ns + x[i].offset_ns);
		if (!correct(map_a, on_a, &a) || !correct(map_b, x[i].local_ns, &b)) {
			continue;
		}
		int64_t d = usk_saturate(ceiling ? (usk_i128)a - b : (usk_i128)b - a);
		size_t at = column_of(p, drawn_is_b ? x[i].local_ns : on_a);
		least[at] = d < least[at] ? d : least[at];
	}
}

/* 1, 2 or 5 times a power of ten, at least ns. */
static int64_t round_up(int64_t ns)
{
	int64_t step = 1;
	while (step < ns && step < USK_TIME_MAX / 10) {
		step *= 10;
	}
	return step / 5 >= ns ? step / 5 : step / 2 >= ns ? step / 2 : step;
}

/* The axis reaches a little over nine tenths of what is there. False: there is nothing. */
static bool choose_reach(struct plot *p)
{
	size_t n = 0, dots = p->columns * p->wide;
	int64_t *all = kept(usk_alloc(2 * dots, sizeof *all));
	for (size_t i = 0; i < dots; i++) {
		for (int k = 0; k < 2; k++) {
			if (p->least[k][i] != INT64_MAX) {
				all[n++] = p->least[k][i] < 0 ? 0 : p->least[k][i];
			}
		}
	}
	qsort(all, n, sizeof *all, usk_by_int64);
	int64_t most = n ? all[n * 9 / 10] : 0;
	p->reach_ns = round_up(most < 1 ? 1 : most + most / 8);
	return n > 0;
}

static void set_dots(struct plot *p)
{
	static const uint8_t braille[4][2] = {
		{ 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
	};
	int64_t half = (int64_t)(ROWS * p->high) / 2;
	for (size_t x = 0; x < p->columns * p->wide; x++) {
		for (int below = 0; below < 2; below++) {
			int64_t d = p->least[below][x];
			/* The outermost rows of dots stand for what is beyond, too. */
			if (d == INT64_MAX) {
				continue;
			}
			int64_t y = (int64_t)((usk_i128)(d < 0 ? 0 : d) * half / p->reach_ns);
			y = y >= half ? half - 1 : y;
			size_t row = (size_t)(below ? half + y : half - 1 - y);
			uint8_t mask = p->high == 2 ? (uint8_t)(1 << row % 2)
						    : braille[row % p->high][x % p->wide];
			p->dot[row / p->high * p->columns + x / p->wide] |= mask;
		}
	}
}

/* ---- as text --------------------------------------------------------------------------- */

static void put_cell(FILE *out, const struct plot *p, uint8_t mask, bool zero)
{
	static const char ascii[] = " '.:";
	if (p->high == 2) {
		fputc(mask ? ascii[mask] : zero ? '-' : ' ', out);
	} else if (mask) {
		fprintf(out, "\xe2%c%c", 0xa0 | mask >> 6, 0x80 | (mask & 0x3f));
	} else {
		fputs(zero ? "\xe2\x94\x80" : " ", out);
	}
}

static void put_rows(FILE *out, const struct plot *p)
{
	for (size_t row = 0; row < ROWS; row++) {
		bool zero = row == ROWS / 2, end = row == 0 || row + 1 == ROWS;
		struct text label = end ? unit_span(row ? -p->reach_ns : p->reach_ns)
					: text_of(zero ? "0" : "");
		size_t last = p->columns;
		while (!zero && last && !p->dot[row * p->columns + last - 1]) {
			last--;
		}
		if (last || *label.s) {
			fprintf(out, "%s%*s%s%s", colour(out, "dim"), GUTTER - 1, label.s,
				colour(out, "off"), last ? " " : "");
		}
		for (size_t x = 0; x < last; x++) {
			put_cell(out, p, p->dot[row * p->columns + x], zero);
		}
		fputc('\n', out);
	}
}

/* When it began and ended, and a mark where it was stepped. */
static void put_axis(FILE *out, const struct plot *p, const struct usk_clock *k)
{
	char *marks = kept(usk_alloc(p->columns + 1, 1));
	memset(marks, ' ', p->columns);
	struct text span = unit_span(usk_saturate((usk_i128)p->last_ns - p->first_ns));
	size_t n = strlen(span.s);
	marks[0] = '0';
	memcpy(marks + p->columns - n, span.s, n);
	for (size_t i = 0; i < k->n_jumps; i++) {
		size_t at = column_of(p, k->jump[i].after_local_ns) / p->wide;
		if (k->jump[i].kind == USK_JUMP && at > 1 && at + n + 1 < p->columns) {
			marks[at] = '^';
		}
	}
	fprintf(out, "%s%*s%s%s\n", colour(out, "dim"), GUTTER, "", marks, colour(out, "off"));
}

static void put_title(FILE *out, const struct usk_clocks *c, uint32_t clock, uint32_t other,
		      const struct plot *p)
{
	/* Of long names the beginning: it must stay a line. */
	bool narrow = p->columns < 65;
	int most = narrow ? 8 : (int)(p->columns - 49) / 2;
	fprintf(out, "%*s%s%.*s%s%s: delays to %.*s above, from it below\n", GUTTER, "",
		colour(out, "bold"), most, printable(c->clock[clock].name), colour(out, "off"),
		narrow ? "" : " around its estimate", most, printable(c->clock[other].name));
}

static bool draw(struct plot *p, const struct usk_clocks *c, const struct usk_pair *pair,
		 uint32_t clock)
{
	const struct usk_clock *a = &c->clock[pair->a], *b = &c->clock[pair->b];
	struct usk_map *map_a = usk_map_new(a, c->max_skew_e12);
	struct usk_map *map_b = usk_map_new(b, c->max_skew_e12);
	size_t dots = p->columns * p->wide;
	for (int k = 0; k < 2; k++) {
		p->least[k] = kept(usk_alloc(dots, sizeof *p->least[k]));
		for (size_t i = 0; i < dots; i++) {
			p->least[k][i] = INT64_MAX;
		}
	}
	bool there =
		(map_a || a->quality == USK_REFERENCE) && (map_b || b->quality == USK_REFERENCE);
	for (int k = 0; k < 2 && there; k++) {
		add_side(p, pair, k, clock == pair->b, map_a, map_b);
	}
	usk_map_free(map_a);
	usk_map_free(map_b);
	p->dot = kept(usk_alloc(p->columns * ROWS, 1));
	there = there && choose_reach(p);
	if (there) {
		set_dots(p);
	}
	return there;
}

static const struct usk_pair *pair_of(const struct usk_clocks *c, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_pair *p = &c->pair[i];
		if ((p->a == a && p->b == b) || (p->a == b && p->b == a)) {
			return p;
		}
	}
	return NULL;
}

/* Why there is nothing to draw of a clock, or NULL. */
static const char *why_not(const struct usk_clock *k, int columns)
{
	return k->quality == USK_REFERENCE ? "it is the reference"
	       : k->quality != USK_BOUNDED || k->n_knots < 2 || k->n_path < 2 ? "it is not bounded"
	       : columns < NARROWEST	       ? "it needs 40 columns or more"
	       : k->knot[k->n_knots - 1].epoch ? "it was stepped backward while it recorded; "
						 "`unskew report` draws such clocks, too"
					       : NULL;
}

const char *plot_clock(FILE *out, const struct usk_clocks *c, uint32_t clock, int columns,
		       bool unicode)
{
	const struct usk_clock *k = &c->clock[clock];
	const char *none = why_not(k, columns);
	if (none) {
		return none;
	}
	uint32_t other = k->path[k->n_path - 2];
	const struct usk_clock *o = &c->clock[other];
	const struct usk_pair *pair = pair_of(c, other, clock);
	struct plot p = { .wide = unicode ? 2 : 1,
			  .high = unicode ? 4 : 2,
			  .columns = (size_t)(columns < WIDEST ? columns : WIDEST) - GUTTER - 1,
			  .first_ns = k->knot[0].local_ns,
			  .last_ns = k->knot[k->n_knots - 1].local_ns };
	if (o->n_knots && o->knot[o->n_knots - 1].epoch) {
		none = "the clock at the other end of its messages was stepped backward while it "
		       "recorded";
	} else if (!pair || !draw(&p, c, pair, clock)) {
		none = "its messages are not known";
	} else {
		fputc('\n', out);
		put_title(out, c, clock, other, &p);
		put_rows(out, &p);
		put_axis(out, &p, k);
	}
	return none;
}
