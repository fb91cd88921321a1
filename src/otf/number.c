/* SPDX-License-Identifier: MIT */
/*
 * number.c - which message, which collective
 *
 * In    events of one thread after the other
 * Out   sides of messages and parts of collectives, whose ids say which are one
 * Why   MPI never lets messages of one sender, receiver, communicator and tag overtake each other, and
 *       all members call a communicator's collectives in one order; so the n-th are one
 * Not   whether a count can be right once all is known (verdict.c)
 *
 * A receive that was not recorded makes later ones those of earlier messages, which were sent before
 * what they are of: that bounds less, and nothing false. A send that was not recorded would bound
 * what is false; so behind what a thread did not record nothing of it is used.
 */
#include "otf/otf.h"

#include <stdlib.h>
#include <string.h>

/* Keys of collectives: no communicator has so large a number. */
#define COLLECTIVE (UINT64_C(1) << 63)

static uint32_t key_of(struct otf2_numbers *x, uint64_t a, uint64_t b, uint32_t process)
{
	uint64_t *number = usk_index_value(&x->keys, a, b);
	if (!*number) {
		x->key = usk_room(x->key, x->n_keys, &x->cap_keys, sizeof *x->key);
		x->key[x->n_keys] = (struct otf2_key){ .process = process, .base = OTF2_NOWHERE };
		*number = ++x->n_keys;
	}
	return (uint32_t)*number - 1;
}

/* The number of the next one on this side. */
static uint32_t count(struct otf2_numbers *x, struct otf2_key *k, int side)
{
	if (k->thread[side] && k->thread[side] != x->thread) {
		k->verdict = OTF2_THREADS;
	}
	k->thread[side] = x->thread;
	return k->n[side]++;
}

/* Different for any two numbers, keys and traces. */
static struct usk_event_id id_of(const struct otf2_numbers *x, uint32_t key, uint32_t number)
{
	uint64_t of = usk_mix(x->seed + key);
	return (struct usk_event_id){ { usk_mix(of ^ number), of } };
}

static struct otf2_row row_of(const struct otf2_numbers *x, enum usk_collective_kind kind,
			      struct usk_event_id id, uint32_t key)
{
	return (struct otf2_row){
		.x = { .id = id, .clock = x->process, .rank = x->process, .kind = (uint8_t)kind },
		.key = key
	};
}

/* ---- messages -------------------------------------------------------------------------------- */

static uint32_t peer_of(struct otf2_numbers *x, uint32_t comm, uint32_t who)
{
	if (!usk_otf2_is_between(x->world, comm)) {
		return usk_otf2_peer(x->world, comm, x->process, who, false);
	}
	if (x->comm != comm) {
		x->second = usk_otf2_rank(x->world, comm, x->process, true) == OTF2_NOWHERE;
		x->comm = comm;
	}
	return usk_otf2_peer(x->world, comm, x->process, who, x->second);
}

static enum usk_status side(struct otf2_numbers *x, const struct otf2_post *p, bool sent,
			    struct usk_err *err)
{
	uint32_t comm = usk_otf2_comm_of(x->world, p->comm);
	uint32_t peer = comm == OTF2_NOWHERE ? comm : peer_of(x, comm, p->who);
	if (peer == OTF2_NOWHERE) {
		x->left[OTF2_UNPLACED]++;
		return USK_OK;
	}
	if (peer == x->process) { /* it tells a clock nothing of itself */
		return USK_OK;
	}
	uint32_t from = sent ? x->process : peer, to = sent ? peer : x->process;
	uint32_t key = key_of(x, (uint64_t)from << 32 | to, (uint64_t)comm << 32 | p->tag, from);
	uint32_t number = count(x, &x->key[key], !sent);
	struct otf2_row row = row_of(x, USK_MESSAGE, id_of(x, key, number), key);
	row.x.root = sent;
	row.x.enter_ns = row.x.exit_ns = p->exit_ns;
	return x->put(x->ctx, &row, err);
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* Rank 0's message to all, and one of each rank to the next. */
static enum usk_status from_lower(struct otf2_numbers *x, const struct otf2_post *p, uint32_t comm,
				  uint32_t base, uint32_t number, struct usk_err *err)
{
	const uint64_t b = COLLECTIVE | (uint64_t)comm << 32;
	uint32_t rank = usk_otf2_rank(x->world, comm, x->process, false);
	if (rank == OTF2_NOWHERE) {
		x->left[OTF2_UNPLACED]++;
		return USK_OK;
	}
	enum usk_status status = USK_OK;
	/* From rank 0, from the one below, to the one above. */
	for (int way = 0; way < 3 && !status; way++) {
		uint64_t of = way == 0 ? 0 : way == 1 ? rank - UINT64_C(1) : rank;
		bool root = way == 0 ? !rank : way == 2;
		if ((way && !of) || (way == 1 && !rank) ||
		    (root && rank + 1 >= usk_otf2_size(x->world, comm))) {
			continue;
		}
		uint32_t key = key_of(x, (of + 1) << 8 | p->op, b, OTF2_NOWHERE);
		struct otf2_row row = row_of(x, USK_MESSAGE, id_of(x, key, number), base);
		row.x.root = root;
		row.x.enter_ns = root ? p->enter_ns : p->exit_ns;
		row.x.exit_ns = p->exit_ns;
		status = x->put(x->ctx, &row, err);
	}
	return status;
}

/* What one member says of the collective; left: why nothing, where that is to be counted. */
static enum usk_status member(struct otf2_numbers *x, const struct otf2_post *p, uint32_t comm,
			      uint32_t base, uint32_t number, struct usk_err *err)
{
	const struct otf2_operation *op = &usk_otf2_operation[p->op];
	bool rooted =
		op->use != OTF2_FROM_LOWER && usk_collective_shape(op->kind) != USK_FROM_ALL_TO_ALL;
	uint32_t root =
		rooted ? usk_otf2_peer(x->world, comm, x->process, p->who, false) : x->process;
	bool is_root = rooted && root == x->process;
	enum otf2_left left = p->enter_ns == USK_NONE			   ? OTF2_UNBEGUN
			      : root == OTF2_NOWHERE			   ? OTF2_UNPLACED
			      : !usk_otf2_takes_part(op, is_root, p->flag) ? OTF2_NO_BYTES
									   : OTF2_LEFTS;
	if (left != OTF2_LEFTS) {
		x->left[left]++;
		return USK_OK;
	}
	if (op->use == OTF2_FROM_LOWER) {
		return from_lower(x, p, comm, base, number, err);
	}
	struct otf2_row row = row_of(x, op->kind, id_of(x, base, number), base);
	row.x.root = is_root;
	row.x.enter_ns = p->enter_ns;
	row.x.exit_ns = p->exit_ns;
	return x->put(x->ctx, &row, err);
}

static enum usk_status part(struct otf2_numbers *x, const struct otf2_post *p, struct usk_err *err)
{
	const struct otf2_operation *op = &usk_otf2_operation[p->op];
	if (op->use == OTF2_PASSED || op->use == OTF2_SILENT) {
		x->passed[p->op] += op->use == OTF2_PASSED;
		return USK_OK;
	}
	uint32_t comm = usk_otf2_comm_of(x->world, p->comm);
	if (comm == OTF2_NOWHERE || usk_otf2_is_between(x->world, comm)) {
		x->left[comm == OTF2_NOWHERE ? OTF2_UNPLACED : OTF2_BETWEEN]++;
		return USK_OK;
	}
	if (usk_otf2_size(x->world, comm) == 1) { /* nobody waits for anybody */
		return USK_OK;
	}
	uint64_t b = COLLECTIVE | (uint64_t)comm << 32;
	uint32_t base = key_of(x, p->op, b, OTF2_NOWHERE);
	uint32_t own = key_of(x, (uint64_t)x->process << 32 | p->op, b | 1, x->process);
	x->key[own].base = base;
	return member(x, p, comm, base, count(x, &x->key[own], 0), err);
}

/* ---- in the order in which they began -------------------------------------------------------- */

/* over: what is open now will not be settled any more. */
static enum usk_status settle_receives(struct otf2_numbers *x, bool over, struct usk_err *err)
{
	struct otf2_queue *q = &x->receives;
	enum usk_status status = USK_OK;
	for (const struct otf2_post *p; !status && q->n; usk_otf2_pop(q)) {
		p = over ? &q->post[q->first] : usk_otf2_front(q);
		if (!p) {
			break;
		}
		status = p->state == OTF2_DONE ? side(x, p, false, err) : USK_OK;
	}
	return status;
}

static enum usk_status settle_collectives(struct otf2_numbers *x, struct usk_err *err)
{
	struct otf2_queue *q = &x->collectives;
	enum usk_status status = USK_OK;
	for (const struct otf2_post *p; !status && (p = usk_otf2_front(q)); usk_otf2_pop(q)) {
		x->out_of_step |= p->state == OTF2_OPEN;
		if (x->out_of_step) {
			x->left[OTF2_UNBEGUN]++;
		} else {
			status = part(x, p, err);
		}
	}
	return status;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void damaged(struct otf2_numbers *x, const char *why, int n)
{
	struct otf2_world *w = x->world;
	if (!x->n_damaged++) {
		const char *name = x->process < w->n_processes ? w->process[x->process].name : NULL;
		x->damage = usk_format("\"%s\" %.*s", name ? name : "?", n, why);
	}
	x->failed = true;
}

static void begin_thread(struct otf2_numbers *x, uint64_t location)
{
	usk_otf2_empty(&x->receives);
	usk_otf2_empty(&x->collectives);
	x->process = usk_otf2_process_of(x->world, location);
	x->thread++;
	x->last_ns = INT64_MIN;
	x->failed = x->process == OTF2_NOWHERE;
	x->stopped = x->out_of_step = false;
	x->begun_ns = USK_NONE;
	x->comm = OTF2_NOWHERE;
}

static enum usk_status end_thread(struct otf2_numbers *x, const struct otf2_item *item,
				  struct usk_err *err)
{
	if (x->process == OTF2_NOWHERE) {
		return USK_OK;
	}
	struct otf2_process *p = &x->world->process[x->process];
	enum usk_status status = settle_receives(x, true, err);
	p->open |= x->collectives.n || x->out_of_step;
	x->left[OTF2_UNBEGUN] += x->collectives.n;
	if (item->n) {
		damaged(x, item->text, item->n);
	}
	p->over += !x->failed;
	x->process = OTF2_NOWHERE;
	return status;
}

/* The time of an event; false: nothing more of this thread is to be used. */
static bool take_time(struct otf2_numbers *x, const struct otf2_item *item, int64_t *ns)
{
	x->events++;
	if (x->failed || x->process == OTF2_NOWHERE) {
		return false;
	}
	if (!usk_otf2_time(x->world, item->value, ns)) {
		damaged(x, "has a stamp more than 146 years from zero, and what follows is lost",
			80);
		return false;
	}
	if (*ns < x->last_ns) {
		x->world->process[x->process].falls = true;
		damaged(x, "has stamps that fall, so nothing of it is used", 80);
		return false;
	}
	x->last_ns = *ns;
	return true;
}

static struct otf2_post post_of(const struct otf2_numbers *x, const struct otf2_item *item)
{
	uint8_t last = OTF2_OPERATIONS - 1;
	return (struct otf2_post){ .request = item->request,
				   .enter_ns = x->last_ns,
				   .exit_ns = x->last_ns,
				   .comm = item->comm,
				   .who = item->who,
				   .tag = item->tag,
				   .op = item->op < last ? item->op : last,
				   .flag = item->flag,
				   .state = OTF2_DONE };
}

/* What was open ends, with what is known of it only now. */
static void settle_open(struct otf2_numbers *x, struct otf2_queue *q, const struct otf2_item *item)
{
	struct otf2_post *open = usk_otf2_open(q, item->request);
	if (!open) {
		x->left[OTF2_UNBEGUN]++;
		x->out_of_step |= q == &x->collectives;
		return;
	}
	int64_t enter_ns = open->enter_ns;
	*open = post_of(x, item);
	open->enter_ns = enter_ns;
}

static enum usk_status take_event(struct otf2_numbers *x, const struct otf2_item *item,
				  struct usk_err *err)
{
	struct otf2_post p = post_of(x, item);
	struct otf2_post *open;
	switch ((enum otf2_kind)item->kind) {
	case ITEM_SEND:
		return side(x, &p, true, err);
	case ITEM_RECEIVE:
		usk_otf2_push(&x->receives, p);
		break;
	case ITEM_POST:
	case ITEM_REQUEST:
		p.state = OTF2_OPEN;
		usk_otf2_push(item->kind == ITEM_POST ? &x->receives : &x->collectives, p);
		break;
	case ITEM_COMPLETE:
	case ITEM_FULFIL:
		settle_open(x, item->kind == ITEM_COMPLETE ? &x->receives : &x->collectives, item);
		break;
	case ITEM_CANCEL:
		open = usk_otf2_open(&x->receives, item->request);
		if (open) {
			open->state = OTF2_GONE;
		}
		break;
	case ITEM_BEGIN:
		x->begun_ns = x->last_ns;
		break;
	case ITEM_FINISH:
		p.enter_ns = x->begun_ns;
		x->begun_ns = USK_NONE;
		usk_otf2_push(&x->collectives, p);
		break;
	default:
		break;
	}
	enum usk_status status = settle_receives(x, false, err);
	return status ? status : settle_collectives(x, err);
}

enum usk_status usk_otf2_take(struct otf2_numbers *x, const struct otf2_item *item,
			      struct usk_err *err)
{
	int64_t ns;
	if (item->kind == ITEM_READ) {
		begin_thread(x, item->value);
		return USK_OK;
	}
	if (item->kind == ITEM_OVER) {
		return end_thread(x, item, err);
	}
	if (item->kind < ITEM_READ || item->kind > ITEM_OFF || !take_time(x, item, &ns)) {
		return USK_OK;
	}
	if (item->kind == ITEM_OFF) {
		x->stopped = x->world->process[x->process].stopped = true;
	}
	if (x->stopped) {
		bool whole = item->kind == ITEM_SEND || item->kind == ITEM_RECEIVE ||
			     item->kind == ITEM_COMPLETE || item->kind == ITEM_FINISH ||
			     item->kind == ITEM_FULFIL;
		x->left[OTF2_AFTER_OFF] += whole;
		return USK_OK;
	}
	return take_event(x, item, err);
}

void usk_otf2_numbers_free(struct otf2_numbers *x)
{
	usk_otf2_empty(&x->receives);
	usk_otf2_empty(&x->collectives);
	usk_index_free(&x->keys);
	USK_FREE(x->key, x->damage);
}
