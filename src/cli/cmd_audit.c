/* SPDX-License-Identifier: MIT */
/*
 * cmd_audit.c - do clocks keep what they claim?
 *
 * In    files of claims, traces of machines that exchanged messages
 * Out   how far each claimant was tested; which claims cannot all be true, and the way between them
 * Why   the status tells a script: 0 nothing contradicts, 3 something does, 1 nothing was tested
 * Not   numbers of packets in their files
 */
#include "audit/audit.h"
#include "json.h"
#include "print.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 20 };

struct auditing {
	const struct args *args;
	const char *const *file;
	size_t n_files;
	struct usk_claims claims;
	struct usk_msg *msg;
	size_t n_msgs, kept, cap_msgs;
	struct usk_clocks *clocks; /* NULL: no traces */
	struct usk_audit audit;
	struct standing *standing; /* [n_names] */
};

/* How a claimant stands. */
struct standing {
	uint64_t claims, bounded, confirmed;
	int64_t *half;	 /* [claims] half widths claimed */
	int64_t *unseen; /* [bounded] an error beyond the claim that others would not show */
};

/* ---- messages ---------------------------------------------------------------------------------
 */

static bool start(void *ctx)
{
	struct auditing *x = ctx;
	x->n_msgs = x->kept;
	return true;
}

static bool put(void *ctx, const struct usk_msg *msg, size_t n)
{
	struct auditing *x = ctx;
	for (size_t i = 0; i < n; i++) {
		if (msg[i].from != msg[i].to) {
			*USK_ADD(x->msg, x->n_msgs, x->cap_msgs) = msg[i];
		}
	}
	return true;
}

static void keep(void *ctx)
{
	struct auditing *x = ctx;
	x->kept = x->n_msgs;
}

static void read_traces(struct auditing *x)
{
	static struct task t;
	struct usk_sink sink = { .ctx = x, .start = start, .put = put, .keep = keep };
	task_begin(&t, x->args);
	if (!args_operands(x->args)) {
		return;
	}
	t.trace = traces_open(x->args, 0, &t.n, NULL);
	traces_tell(t.trace, t.n);
	t.options.messages = &sink;
	must(usk_check(t.trace, t.n, &t.options, &x->clocks, &why));
	progress_end();
	for (size_t i = 0; i < x->clocks->n_clocks; i++) {
		const char *name = x->clocks->clock[i].name;
		usk_claims_name(&x->claims, name, strlen(name));
	}
	say_notes(x->args, x->clocks->note, x->clocks->n_notes);
}

/* ---- claims -----------------------------------------------------------------------------------
 */

static void read_file(struct auditing *x, uint32_t file)
{
	struct usk_input in;
	const char *name = NULL, *what;
	const char *path = args_split_name(x->file[file], &name);
	char *damage;
	size_t before = x->claims.n;
	must_in(usk_input_open(&in, path, usk_sniff_text, &why), path);
	must_in(usk_claims_read(&in, name, file, &x->claims, &what, &damage, &why), path);
	if (damage || in.lost) {
		say(x->args, "unskew: note: %s: %s", path, damage ? damage : in.lost);
	}
	if (strstr(what, "measurements")) {
		say(x->args,
		    "unskew: note: %s: chronyd measures its own time, from which the clock of %s "
		    "differs while it is slewed",
		    path, name);
	}
	for (size_t i = before; i < x->claims.n && x->clocks; i++) {
		if (x->claims.row[i].clock >= x->clocks->n_clocks) {
			say(x->args,
			    "unskew: note: %s: no message is of %s, the clock of its claims", path,
			    printable(x->claims.name[x->claims.row[i].clock]));
			break;
		}
	}
	usk_input_close(&in);
	free(damage);
}

/* A clock that was set is audited before that and after it apart: so a stretch of time is one of
 * claims, too. Where its ends are by other clocks than the reference, their messages tell. */
static void leave_out_others(struct auditing *x)
{
	struct usk_claims *c = &x->claims;
	int64_t *first = kept(usk_grow(NULL, c->n_names + 1, sizeof *first));
	int64_t *last = kept(usk_grow(NULL, c->n_names + 1, sizeof *last));
	size_t n = 0;
	for (size_t k = 0; k < c->n_names; k++) {
		first[k] = INT64_MAX;
		last[k] = INT64_MIN;
	}
	for (size_t i = 0; i < 2 * x->n_msgs; i++) {
		const struct usk_msg *m = &x->msg[i / 2];
		uint32_t k = i % 2 ? m->to : m->from;
		int64_t at = i % 2 ? m->received_ns : m->sent_ns;
		first[k] = at < first[k] ? at : first[k];
		last[k] = at > last[k] ? at : last[k];
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct usk_claim *y = &c->row[i];
		if (y->at_ns >= first[y->clock] && y->at_ns <= last[y->clock]) {
			c->row[n++] = *y;
		}
	}
	say(x->args,
	    "unskew: note: %s of %s claims are not used: they lie outside of what "
	    "--from and --to leave of their clocks' messages",
	    unit_count(c->n - n).s, unit_count(c->n).s);
	c->n = n;
}

static void read_claims(struct auditing *x)
{
	bool some = args_given(x->args, "from") || args_given(x->args, "to");
	x->file = args_list(x->args, "claims", &x->n_files);
	if (!x->n_files) {
		say_usage("audit needs claims: --claims [NAME=]FILE");
	}
	if (some && !args_operands(x->args)) {
		say_usage("--from and --to are times of the reference, which takes traces to tell");
	}
	read_traces(x);
	for (uint32_t i = 0; i < x->n_files; i++) {
		read_file(x, i);
	}
	if (some) {
		leave_out_others(x);
	}
}

static void hold(struct auditing *x)
{
	struct usk_audit *a = &x->audit;
	int64_t *resolution = kept(usk_alloc(x->claims.n_names + 1, sizeof *resolution));
	for (size_t i = 0; x->clocks && i < x->clocks->n_clocks; i++) {
		resolution[i] = x->clocks->clock[i].resolution_ns;
	}
	*a = (struct usk_audit){ .n_names = x->claims.n_names,
				 .resolution_ns = resolution,
				 .claim = x->claims.row,
				 .n_claims = x->claims.n,
				 .msg = x->msg,
				 .n_msgs = x->n_msgs,
				 .max_skew_e12 = args_int(x->args, "max-skew-ppm") };
	must(usk_audit_run(a, &why));
}

/* ---- how much was tested ----------------------------------------------------------------------
 */

static int64_t median(int64_t *v, size_t n)
{
	usk_sort_numbers(v, n);
	return n ? v[n / 2] : USK_NONE;
}

static void stand(struct auditing *x)
{
	const struct usk_audit *a = &x->audit;
	x->standing = kept(usk_alloc(a->n_names + 1, sizeof *x->standing));
	for (size_t i = 0; i < a->n_claims; i++) {
		x->standing[a->claim[i].by].claims++;
	}
	for (size_t k = 0; k < a->n_names; k++) {
		struct standing *s = &x->standing[k];
		s->half = kept(usk_alloc(s->claims + 1, sizeof *s->half));
		s->unseen = kept(usk_alloc(s->claims + 1, sizeof *s->unseen));
		s->claims = 0;
	}
	for (size_t i = 0; i < a->n_claims; i++) {
		const struct usk_claim *c = &a->claim[i];
		const struct usk_tested *t = &a->tested[i];
		struct standing *s = &x->standing[c->by];
		s->half[s->claims++] = usk_saturate(usk_ceil_div((usk_i128)c->hi_ns - c->lo_ns, 2));
		if (t->lo_ns != USK_NONE && t->hi_ns != USK_NONE) {
			usk_i128 below = (usk_i128)c->lo_ns - t->lo_ns;
			usk_i128 above = (usk_i128)t->hi_ns - c->hi_ns;
			usk_i128 most = below > above ? below : above;
			s->unseen[s->bounded++] = usk_saturate(most > 0 ? most : 0);
			s->confirmed += most <= 0;
		}
	}
}

static uint64_t all_bounded(const struct auditing *x)
{
	uint64_t n = 0;
	for (size_t k = 0; k < x->audit.n_names; k++) {
		n += x->standing[k].bounded;
	}
	return n;
}

/* ---- for people -------------------------------------------------------------------------------
 */

static const char *name_of(const struct auditing *x, uint32_t k)
{
	return printable(x->claims.name[k]);
}

static void print_standing(const struct auditing *x)
{
	struct table t = table_begin("claimant\t>claims\t>claimed\t>bounded by others\t>confirmed\t"
				     ">wrong unseen by at most");
	for (uint32_t k = 0; k < x->audit.n_names; k++) {
		const struct standing *s = &x->standing[k];
		if (!s->claims) {
			continue;
		}
		table_add(&t, "%s\t%s\t±%s\t%s\t%s\t%s", name_of(x, k), unit_count(s->claims).s,
			  unit_bound(median(s->half, s->claims)).s, unit_count(s->bounded).s,
			  unit_count(s->confirmed).s,
			  s->bounded ? unit_bound(median(s->unseen, s->bounded)).s : "-");
	}
	table_print(stdout, &t);
	printf("\nMedians. Bounded by others: claims of others and messages leave an interval for "
	       "UTC there;\nconfirmed: it lies within the claim; else the claim may be wrong by so "
	       "much without being found.\n");
	if (x->claims.none) {
		printf("Rows that claim nothing, as a clock was not synchronised, or a test "
		       "failed: %s.\n",
		       unit_count(x->claims.none).s);
	}
}

static void say_claim(const struct auditing *x, uint32_t claim, bool upper)
{
	const struct usk_claim *c = &x->audit.claim[claim];
	int64_t middle = (int64_t)(((usk_i128)c->lo_ns + c->hi_ns) >> 1);
	printf("   %s claimed UTC - %s = %s (%s, line %llu):\n", name_of(x, c->by),
	       name_of(x, c->clock), unit_between(middle, c->lo_ns, c->hi_ns).s,
	       printable(x->file[c->file]), (unsigned long long)c->line);
	printf("     when %s showed %s%s, UTC was %s%s at the %s.\n", name_of(x, c->clock),
	       unit_seconds(c->at_ns).s, c->blur_ns ? " (or up to 1 s more)" : "",
	       unit_seconds((usk_i128)c->at_ns + (upper ? c->hi_ns : c->lo_ns)).s,
	       c->blur_ns ? " (and as much more)" : "", upper ? "latest" : "earliest");
}

static void say_link(const struct auditing *x, const struct usk_link *l)
{
	if (l->message != UINT32_MAX) {
		const struct usk_msg *m = &x->msg[l->message];
		printf("   %s sent a message at %s that %s received at %s.\n", name_of(x, m->from),
		       unit_seconds(m->sent_ns).s, name_of(x, m->to),
		       unit_seconds(m->received_ns).s);
		return;
	}
	usk_i128 d = (usk_i128)l->to_ns - l->from_ns;
	if (!d) {
		printf("   %s showed %s once only, if it was not set back.\n", name_of(x, l->clock),
		       unit_seconds(l->from_ns).s);
		return;
	}
	printf("   From %s to %s, %s, %s gains or loses at most %s.\n", unit_seconds(l->from_ns).s,
	       unit_seconds(l->to_ns).s, unit_span(usk_saturate(d)).s, name_of(x, l->clock),
	       unit_bound(usk_saturate(usk_ceil_div(d * x->audit.max_skew_e12, 1000000000000))).s);
}

static void say_clash(const struct auditing *x, const struct usk_clash *c, size_t number)
{
	bool claims = c->low != USK_NO_CLAIM;
	printf("\n%zu. Cannot all be true, by at least %s%s:\n", number, unit_at_least(c->gap_ns).s,
	       claims ? "" : ", whatever is claimed");
	if (claims) {
		say_claim(x, c->low, false);
	}
	for (size_t i = 0; i < c->n_links; i++) {
		say_link(x, &c->link[i]);
	}
	if (claims) {
		say_claim(x, c->high, true);
	}
}

static void say_named(const struct auditing *x, uint32_t k)
{
	const struct usk_audit *a = &x->audit;
	if (a->without[k] == USK_ALL_WRONG) {
		printf("%s is wrong, or its clock was stepped: no other is needed to tell.\n",
		       name_of(x, k));
	} else {
		printf("%s is wrong, or its clock was stepped; or at least %zu others are, of %zu "
		       "that were tested.\n",
		       name_of(x, k), a->without[k], a->n_tested);
	}
}

static void print_verdict(const struct auditing *x)
{
	const struct usk_audit *a = &x->audit;
	bool named = false;
	if (!a->n_clashes && !all_bounded(x)) {
		return;
	}
	if (!a->n_clashes) {
		printf("\nAll claims and messages are consistent.\n");
		return;
	}
	for (size_t i = 0; i < a->n_clashes && i < SHOWN; i++) {
		say_clash(x, &a->clash[i], i + 1);
	}
	if (a->n_clashes > SHOWN) {
		printf("\nAnd %s more; --json has all.\n", unit_count(a->n_clashes - SHOWN).s);
	}
	putchar('\n');
	for (uint32_t k = 0; k < a->n_names; k++) {
		if (usk_audit_named(a, k)) {
			say_named(x, k);
			named = true;
		}
	}
	if (!named) {
		printf("Nothing decides who: in each of these a claim is wrong, or a clock that is "
		       "named was stepped.\n");
	}
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static json_t *claim_json(const struct auditing *x, uint32_t claim)
{
	if (claim == USK_NO_CLAIM) {
		return json_null();
	}
	const struct usk_claim *c = &x->audit.claim[claim];
	return json_pack("{s:o,s:o,s:o,s:I,s:I,s:I,s:I}", "by", json_shown(x->claims.name[c->by]),
			 "clock", json_shown(x->claims.name[c->clock]), "file",
			 json_shown(x->file[c->file]), "line", (json_int_t)c->line, "time_ns",
			 (json_int_t)c->at_ns, "lo_ns", (json_int_t)c->lo_ns, "hi_ns",
			 (json_int_t)c->hi_ns);
}

static json_t *links_json(const struct auditing *x, const struct usk_clash *c)
{
	json_t *steps = json_array();
	for (size_t i = 0; i < c->n_links; i++) {
		const struct usk_link *l = &c->link[i];
		if (l->message == UINT32_MAX) {
			json_array_append_new(steps, json_pack("{s:o,s:I,s:I}", "clock",
							       json_shown(x->claims.name[l->clock]),
							       "from_ns", (json_int_t)l->from_ns,
							       "to_ns", (json_int_t)l->to_ns));
			continue;
		}
		const struct usk_msg *m = &x->msg[l->message];
		json_array_append_new(steps,
				      json_pack("{s:o,s:I,s:o,s:I}", "sender",
						json_shown(x->claims.name[m->from]), "sent_ns",
						(json_int_t)m->sent_ns, "receiver",
						json_shown(x->claims.name[m->to]), "received_ns",
						(json_int_t)m->received_ns));
	}
	return steps;
}

static json_t *standing_json(const struct auditing *x, uint32_t k)
{
	const struct standing *s = &x->standing[k];
	size_t without = x->audit.without[k];
	return json_pack(
		"{s:o,s:I,s:o,s:I,s:I,s:o,s:b,s:o}", "name", json_shown(x->claims.name[k]),
		"claims", (json_int_t)s->claims, "half_width_ns",
		json_ns(median(s->half, s->claims)), "bounded", (json_int_t)s->bounded, "confirmed",
		(json_int_t)s->confirmed, "unseen_ns", json_ns(median(s->unseen, s->bounded)),
		"wrong", usk_audit_named(&x->audit, k), "else_wrong",
		without == USK_ALL_WRONG ? json_null() : json_integer((json_int_t)without));
}

static void print_json(const struct auditing *x)
{
	json_t *who = json_array(), *clashes = json_array();
	for (uint32_t k = 0; k < x->audit.n_names; k++) {
		if (x->standing[k].claims || usk_audit_named(&x->audit, k)) {
			json_array_append_new(who, standing_json(x, k));
		}
	}
	for (size_t i = 0; i < x->audit.n_clashes; i++) {
		const struct usk_clash *c = &x->audit.clash[i];
		json_array_append_new(
			clashes, json_pack("{s:I,s:o,s:o,s:o}", "gap_ns", (json_int_t)c->gap_ns,
					   "earliest", claim_json(x, c->low), "latest",
					   claim_json(x, c->high), "steps", links_json(x, c)));
	}
	json_print(stdout,
		   json_pack("{s:i,s:b,s:I,s:I,s:I,s:I,s:o,s:o}", "unskew_audit", 1, "consistent",
			     !x->audit.n_clashes, "messages", (json_int_t)x->n_msgs, "no_claim",
			     (json_int_t)x->claims.none, "tested", (json_int_t)x->audit.n_tested,
			     "least_wrong", (json_int_t)x->audit.n_wrong, "claimants", who,
			     "contradictions", clashes),
		   JSON_INDENT(2));
}

static int audit_run(const struct args *args)
{
	static struct auditing x;
	x.args = args;
	read_claims(&x);
	hold(&x);
	stand(&x);
	if (args_flag(args, "json")) {
		print_json(&x);
	} else {
		print_standing(&x);
		print_verdict(&x);
	}
	if (!x.audit.n_clashes && !all_bounded(&x)) {
		say_failed("no claim was tested: no claims of two claimants are connected by "
			   "messages in both directions, or on one clock");
	}
	return x.audit.n_clashes ? EXIT_PARTIAL : EXIT_DONE;
}

static const struct option_group audit_claims = {
	"Claims",
	{
		{ "claims",
		  "what clocks claimed: a CSV with clock, time_ns, earliest_ns, latest_ns or "
		  "clock, time_ns, offset_ns, error_ns; or chrony's tracking or measurements log "
		  "of clock NAME",
		  TEXTS("[NAME=]FILE"), .letter = 'c' },
		{ "max-skew-ppm", "the rate of no clock differs from UTC's by more than this",
		  PPM("500", "0.001", "100000") },
		{ "json", "print JSON instead of sentences", FLAG },
	}
};

const struct command cmd_audit = {
	.name = "audit",
	.run = audit_run,
	TRACES("[[NAME=]TRACE...]", 0, 1),
	.example = {
		{ "do two clocks keep what they claim?", "audit --claims claims.csv a.pcap b.pcap" },
		{ "chrony's logs of two machines", "audit -c a=a/tracking.log -c b=b/tracking.log a.pcap b.pcap" },
		{ "clocks whose rate chrony keeps within 20 ppm, as JSON", "audit -c claims.csv --max-skew-ppm 20 --json messages.csv" },
	},
	.brief = { "claims", "json", "reference", "from", "to" },
	.help = "hold what clocks claim of their error against messages and each other",
	.more = "A claim says: when this clock showed that, UTC was within an interval. No message "
		"is received before it was sent, and no clock gains or loses more than "
		"--max-skew-ppm; so claims of different clocks may contradict each other. The "
		"status is 0 if nothing contradicts, 3 if something does, and 1 if no claim could "
		"be tested. Of whom a claim is wrong is said where all but that needs half of those "
		"tested to be wrong. doc/audit.md has formats and limits.",
	.group = { &audit_claims, &options_read, &options_match, &options_common },
};
