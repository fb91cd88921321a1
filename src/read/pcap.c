/* SPDX-License-Identifier: MIT */
/*
 * pcap.c - read classic capture files
 *
 * In    the file header (magic tells byte order and unit of the stamps), then records of
 *       seconds, fraction, captured length, original length, bytes
 * Out   records with ns stamps
 * Why   a walk of our own: libpcap needs 0.49 s for ten million packets where this needs 0.06 s,
 *       and every capture is read twice (make bench measures both)
 *       A disk that lost blocks leaves zeros or other bytes; what stands behind them is sound, and
 *       is found again by the headers that follow one another
 *       Of old, the lengths stood the other way round (before version 2.3), and headers were longer
 *       (Kuznetsov's modified libpcap)
 */
#include "read/read.h"

#include <stdlib.h>

/* Bytes that are fetched ahead of the record being read: a dozen small ones. */
enum { AHEAD = 1536 };

enum {
	CHAIN = 3,	  /* headers in a row that are no chance, near the last sound stamp */
	LONG_CHAIN = 8,	  /* and far from it */
	AROUND = 1 << 16, /* bytes behind a record with a stamp far from others, which judge it */
};

/* How a file's writer writes records. */
struct form {
	bool swap;
	bool wire_first;    /* its two lengths stand the other way round */
	uint32_t unit_ns;   /* of stamps */
	uint32_t fractions; /* so many units are a second */
	uint32_t header;    /* bytes of a record's */
	uint32_t most;	    /* captured bytes of a record, as far as its writer kept to it */
};

struct state {
	struct form form;
	int64_t last_ns, high_ns; /* last and highest stamp of records; USK_NONE: none yet */
	struct usk_recent recent;
	/* Where records begin that were handed out and are not noted there yet: of the last ones. */
	uint64_t unnoted[COUNT(((struct usk_recent *)0)->seen)];
	size_t n_unnoted;
};

const struct usk_pcap_kind *usk_pcap_kind(const uint8_t *d, bool *swap)
{
	static const struct usk_pcap_kind kinds[] = { { 0xa1b2c3d4, 1000, 16 },
						      { 0xa1b23c4d, 1, 16 },
						      { 0xa1b2cd34, 1000, 24 } };
	for (size_t i = 0; i < COUNT(kinds); i++) {
		for (int s = 0; s < 2; s++) {
			if (usk_load32(d, s) == kinds[i].magic) {
				*swap = s;
				return &kinds[i];
			}
		}
	}
	return NULL;
}

static bool sniff(const uint8_t *d, size_t n)
{
	enum { DG_UX = 543 };
	bool swap;
	if (n < 8 || !usk_pcap_kind(d, &swap)) {
		return false;
	}
	unsigned version = usk_load16(d + 4, swap);
	return version == 2 || version == DG_UX;
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	struct state *s = t->state ? t->state : (t->state = usk_alloc(1, sizeof *s));
	enum usk_status status = usk_input_need(&t->in, 0, 24, err);
	if (status) {
		return status;
	}
	if (t->in.have < 24) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: cut short within the file header: %zu of 24 bytes", t->path,
				t->in.have);
	}
	const uint8_t *d = t->in.data;
	*s = (struct state){ .last_ns = USK_NONE, .high_ns = USK_NONE };
	struct form *f = &s->form;
	const struct usk_pcap_kind *kind = usk_pcap_kind(d, &f->swap);
	bool old = usk_load16(d + 4, f->swap) != 2 || usk_load16(d + 6, f->swap) < 3;
	f->unit_ns = kind->unit_ns;
	f->header = kind->header;
	f->fractions = 1000000000 / f->unit_ns;
	f->wire_first = old;
	if (!t->n_ifaces) {
		struct usk_iface *i = usk_trace_add_iface(t);
		uint32_t snap = usk_load32(d + 16, f->swap);
		i->snap_length = snap && snap < USK_RECORD_MAX ? snap : 262144;
		/* The upper bits hold the length of the frame check sequence, not the type. */
		i->link_type = (uint16_t)(usk_load32(d + 20, f->swap) & 0xffff);
		i->resolution_ns = f->unit_ns > 1 ? f->unit_ns : 0;
	}
	f->most = t->iface->snap_length;
	t->used = 24;
	return USK_OK;
}

/* A record's header. */
struct head {
	uint32_t second, fraction, captured, wire;
};

static inline struct head head_at(const struct form *f, const uint8_t *d)
{
	uint32_t a = usk_load32(d + 8, f->swap), b = usk_load32(d + 12, f->swap);
	return (struct head){
		.second = usk_load32(d, f->swap),
		.fraction = usk_load32(d + 4, f->swap),
		.captured = f->wire_first ? b : a,
		.wire = f->wire_first ? a : b,
	};
}

static inline int64_t time_of(const struct form *f, const struct head *h)
{
	return (int64_t)h->second * 1000000000 + (int64_t)h->fraction * f->unit_ns;
}

static int64_t stamp(const struct form *f, const uint8_t *d)
{
	const struct head h = head_at(f, d);
	return time_of(f, &h);
}

static uint32_t captured_of(const struct form *f, const uint8_t *d)
{
	return head_at(f, d).captured;
}

static bool is_blank(const struct head *h)
{
	return !(h->second | h->fraction | h->captured | h->wire);
}

/* How much a header has that hardly any writer writes. */
static inline int oddities(const struct form *f, const struct head *h)
{
	return (h->captured > f->most) + (h->captured > h->wire) + (h->wire > USK_RECORD_MAX) +
	       is_blank(h) + (h->fraction >= f->fractions);
}

/* What every writer keeps to. */
static bool is_sound(const struct usk_trace *t, const uint8_t *d)
{
	const struct state *s = t->state;
	const struct head h = head_at(&s->form, d);
	return !oddities(&s->form, &h);
}

/* Do sound headers follow one another from here on, to the end or far enough? */
static bool is_chain(const struct usk_trace *t, size_t pos, size_t end)
{
	const struct state *s = t->state;
	const uint8_t *base = t->in.data;
	bool near = s->last_ns == USK_NONE || usk_near(stamp(&s->form, base + pos), s->last_ns);
	int depth = near ? CHAIN : LONG_CHAIN;
	for (int k = 0; k < depth; k++) {
		size_t left = end - pos;
		if (left < s->form.header) {
			return k && (!left || end < t->in.have);
		}
		const uint8_t *d = base + pos;
		uint32_t captured = captured_of(&s->form, d);
		if (!captured || !is_sound(t, d)) {
			return false;
		}
		if (left - s->form.header < captured) {
			return k >= CHAIN - 1;
		}
		pos += s->form.header + (size_t)captured;
		if (end - pos >= s->form.header &&
		    !usk_near(stamp(&s->form, base + pos), stamp(&s->form, d))) {
			return false;
		}
	}
	return true;
}

static bool begins(const struct usk_trace *t, size_t pos, size_t end, size_t *unsure)
{
	const struct state *s = t->state;
	const uint8_t *d = t->in.data + pos;
	size_t left = end - pos;
	if (left < s->form.header || !is_sound(t, d) || !is_chain(t, pos, end)) {
		return false;
	}
	/* Its stamp may be in the damage's last bytes: the one behind it is sure. */
	size_t size = s->form.header + (size_t)captured_of(&s->form, d);
	*unsure = size < left ? size : left;
	return true;
}

static size_t step(const struct usk_trace *t, size_t pos, size_t end, bool *fresh)
{
	const struct state *s = t->state;
	const uint8_t *d = t->in.data + pos;
	size_t left = end - pos;
	if (left < s->form.header || !is_sound(t, d)) {
		return 0;
	}
	*fresh = s->last_ns == USK_NONE || stamp(&s->form, d) > s->last_ns;
	size_t size = s->form.header + (size_t)captured_of(&s->form, d);
	return size <= left || *fresh ? size : 0;
}

/* A stamp far from the one before it, or a header that hardly any writer makes: is it alone with
 * that? */
static bool is_astray(const struct usk_trace *t, size_t pos)
{
	const struct state *s = t->state;
	const uint8_t *d = t->in.data + pos;
	const struct head h = head_at(&s->form, d);
	size_t left = t->in.have - pos, size = s->form.header + (size_t)h.captured;
	const size_t end = usk_trace_sight(t, pos, AROUND + size);
	int odd = oddities(&s->form, &h);
	if (is_blank(&h) || left < size + s->form.header) {
		return odd > 0;
	}
	const struct head next = head_at(&s->form, d + size);
	int64_t time_ns = time_of(&s->form, &h), next_ns = time_of(&s->form, &next);
	if (odd && usk_near(time_ns, s->last_ns)) {
		/* A writer that does one such thing does so with others, and lengths lead on. */
		return odd > 1 || next.captured > USK_RECORD_MAX || is_blank(&next) ||
		       !usk_near(next_ns, time_ns);
	}
	if (oddities(&s->form, &next)) {
		return odd || s->last_ns != USK_NONE;
	}
	/* Of two that start a capture apart, the second is right if those behind it say so. */
	return s->last_ns == USK_NONE
		       ? !usk_near(time_ns, next_ns) && is_chain(t, pos + size, end)
		       : !usk_near(time_ns, s->last_ns) &&
				 (usk_near(s->last_ns, next_ns) || !is_chain(t, pos, end));
}

/* Written where it goes: a copy would wait for its own parts. */
static inline void record_of(const struct usk_trace *t, const struct form *f, uint64_t at,
			     const struct head *h, struct usk_record *out)
{
	out->time_ns = time_of(f, h);
	out->at = at;
	out->data = t->in.data + (int64_t)(at - t->in.at) + f->header;
	out->captured = h->captured;
	out->length = h->wire;
	out->iface = 0;
	out->side = USK_SIDE_UNKNOWN;
}

/*
 * usk_recent_again() has to know of what was handed out. It is asked seldom, so it is told late:
 * before it is asked, and before the window that holds these bytes moves on.
 */
static void note(const struct usk_trace *t)
{
	struct state *s = t->state;
	const size_t cap = COUNT(s->unnoted), n = s->n_unnoted;
	for (size_t i = n > cap ? n - cap : 0; i < n; i++) {
		const uint64_t at = s->unnoted[i % cap];
		struct usk_record r;
		const struct head h = head_at(&s->form, t->in.data + (int64_t)(at - t->in.at));
		record_of(t, &s->form, at, &h, &r);
		usk_recent_note(&s->recent, &r);
	}
	s->n_unnoted = 0;
}

static enum usk_status refill(struct usk_trace *t, size_t used, size_t want, struct usk_err *err)
{
	if (t->in.have - used < want) {
		note(t);
	}
	return usk_input_need(&t->in, used, want, err);
}

/* At the front of the window is no record that is whole and sound. */
static enum usk_status mend(struct usk_trace *t, struct usk_err *err)
{
	const struct state *s = t->state;
	char room[48];
	bool found;
	uint64_t from = t->in.at;
	size_t have = t->in.have;
	uint32_t captured = have >= s->form.header ? captured_of(&s->form, t->in.data) : 0;
	bool cut = have < s->form.header ||
		   (captured <= USK_RECORD_MAX && t->in.end && have - s->form.header < captured);
	note(t);
	enum usk_status status = usk_trace_resume(t, s->form.header, begins, step, &found, err);
	if (status || found) {
		return status;
	}
	t->done = true;
	if (cut) {
		usk_trace_damaged(
			t, "cut short: the incomplete packet at byte %llu, %zu bytes, was skipped",
			(unsigned long long)from, have);
	} else if (captured > USK_RECORD_MAX) {
		usk_trace_damaged(
			t, "the record at byte %llu claims %u captured bytes: damaged; %s skipped",
			(unsigned long long)from, captured, usk_input_rest(&t->in, from, room));
	} else {
		usk_trace_lost(t, from, t->in.at + t->in.have - from);
	}
	return USK_OK;
}

/* What stands behind the record is in the window. */
static bool is_again(const struct usk_trace *t, const struct usk_record *r)
{
	struct state *s = t->state;
	size_t behind = (size_t)(r->at - t->in.at) + s->form.header + r->captured;
	size_t left = usk_trace_sight(t, behind, AROUND) - behind;
	bool there = r->time_ns < s->last_ns && left >= s->form.header;
	struct head h = there ? head_at(&s->form, t->in.data + behind) : (struct head){ 0 };
	there = there && left - s->form.header >= h.captured;
	struct usk_record next;
	if (there) {
		record_of(t, &s->form, t->in.at + behind, &h, &next);
	}
	return usk_recent_again(&s->recent, r, there ? &next : NULL, s->last_ns, s->high_ns);
}

/* Some writers cut at another snap length than they state: the first records tell. */
static void learn_most(struct usk_trace *t, size_t pos, uint32_t captured)
{
	struct state *s = t->state;
	if (captured > s->form.most) {
		s->form.most = USK_RECORD_MAX;
		const size_t end =
			usk_trace_sight(t, pos, AROUND + s->form.header + (size_t)captured);
		s->form.most = is_chain(t, pos, end) ? s->form.most : t->iface->snap_length;
	}
}

/* As nearly every record does: nothing odd about it, a little later than the last one. */
static inline bool follows(const struct state *s, const struct form *f, const struct head *h,
			   int64_t time_ns)
{
	return (uint64_t)time_ns - (uint64_t)s->last_ns <= (uint64_t)USK_FAR_NS && h->wire &&
	       h->wire <= USK_RECORD_MAX && h->captured <= h->wire && h->captured <= f->most &&
	       h->fraction < f->fractions;
}

/* What is whole at the front of the window, up to what only mend() can pass. */
static size_t whole(struct usk_trace *t, struct usk_record *out, size_t cap, size_t *used)
{
	struct state *s = t->state;
	const uint8_t *base = t->in.data;
	struct form f = s->form;
	const size_t have = t->in.have, header = f.header;
	struct usk_record *r = out;
	size_t pos = 0;
	while (r < out + cap && have - pos >= header) {
		const uint8_t *d = base + pos;
		size_t left = have - pos;
		const struct head h = head_at(&f, d);
		if (left - header < h.captured) {
			break;
		}
		record_of(t, &f, t->in.at + pos, &h, r);
		if (!follows(s, &f, &h, r->time_ns)) {
			/* An empty record may be the end of a header before zeros. */
			bool far = !usk_near(r->time_ns, s->last_ns) || !h.wire || oddities(&f, &h);
			/* What stands behind it has to be there. */
			if (!t->in.end && left <= AROUND + header + (size_t)h.captured) {
				break;
			}
			if (s->last_ns == USK_NONE) {
				learn_most(t, pos, h.captured);
				f.most = s->form.most;
			}
			if (far && is_astray(t, pos)) {
				break;
			}
		}
		/* What comes is asked for early: the kernel's copy leaves it far from the core. */
		__builtin_prefetch(d + AHEAD);
		__builtin_prefetch(d + AHEAD + 64);
		pos += header + (size_t)h.captured;
		if (r->time_ns <= s->high_ns) {
			note(t);
			if (is_again(t, r)) {
				usk_trace_lost(t, r->at, header + (uint64_t)h.captured);
				continue;
			}
		}
		s->unnoted[s->n_unnoted++ % COUNT(s->unnoted)] = r->at;
		s->last_ns = r->time_ns;
		s->high_ns = r->time_ns > s->high_ns ? r->time_ns : s->high_ns;
		r++;
	}
	*used = pos;
	return (size_t)(r - out);
}

static enum usk_status records(struct usk_trace *t, struct usk_record *out, size_t cap, size_t *n,
			       struct usk_err *err)
{
	const struct state *s = t->state;
	enum usk_status status = refill(t, t->used, s->form.header, err);
	t->used = *n = 0;
	while (!status && !t->done && t->in.have) {
		*n = whole(t, out, cap, &t->used);
		if (*n) {
			return USK_OK; /* the next call refills */
		}
		if (t->used) { /* records that were read before, and no other */
			status = refill(t, t->used, s->form.header, err);
			t->used = 0;
			continue;
		}
		uint32_t captured =
			t->in.have >= s->form.header ? captured_of(&s->form, t->in.data) : 0;
		size_t want = s->form.header;
		want += captured > USK_RECORD_MAX ? 0 : AROUND + (size_t)captured + 1;
		if (t->in.have < want && !t->in.end) {
			status = refill(t, 0, want, err);
			continue;
		}
		status = mend(t, err);
	}
	t->done |= !status && !t->in.have;
	return status;
}

static void stop(struct usk_trace *t)
{
	free(t->state);
	t->state = NULL;
}

const struct reader usk_reader_pcap = {
	.info = { "pcap", "pcap", "captures", USK_TRACE_CAPTURE },
	.sniff = sniff,
	.start = start,
	.records = records,
	.stop = stop,
	.written = true,
};
