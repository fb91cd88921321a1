/* SPDX-License-Identifier: MIT */
#include "base/packer.h"
#include "base/io.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct usk_packer {
	struct usk_pack *pack;
	int fd;
	int error;	/* of whoever packs; read by others while nobody does */
	uint8_t *other; /* the buffer that is not being filled */
	size_t n;	/* bytes in it */
	bool last;
	bool started, refused; /* refused: there is no thread to be had */
	pthread_t thread;
	pthread_mutex_t lock; /* of these two */
	pthread_cond_t turn;
	bool full, over;
};

struct usk_packer *usk_packer_new(enum usk_packing packing, int fd)
{
	struct usk_packer *k = usk_alloc(1, sizeof *k);
	k->pack = usk_pack_new(packing);
	k->fd = fd;
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->turn, NULL);
	return k;
}

static void put(void *ctx, const void *data, size_t n)
{
	struct usk_packer *k = ctx;
	if (!k->error && !usk_write_all(k->fd, data, n)) {
		k->error = errno;
	}
}

static void pack(struct usk_packer *k, const uint8_t *data, size_t n, bool last)
{
	if (!k->error && !usk_pack(k->pack, data, n, last, put, k)) {
		k->error = ENOMEM;
	}
}

static void *run(void *arg)
{
	struct usk_packer *k = arg;
	pthread_mutex_lock(&k->lock);
	for (;;) {
		while (!k->full && !k->over) {
			pthread_cond_wait(&k->turn, &k->lock);
		}
		if (!k->full) {
			break;
		}
		pthread_mutex_unlock(&k->lock);
		pack(k, k->other, k->n, k->last);
		pthread_mutex_lock(&k->lock);
		k->full = false;
		pthread_cond_signal(&k->turn);
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

/* Signals are for the threads that were there before. */
static bool start(struct usk_packer *k, size_t size)
{
	sigset_t all, was;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	k->started = !pthread_create(&k->thread, NULL, run, k);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	k->refused = !k->started;
	k->other = k->started ? usk_grow(NULL, size, 1) : NULL;
	return k->started;
}

/* The lock is held afterwards. */
static void wait_for_room(struct usk_packer *k)
{
	pthread_mutex_lock(&k->lock);
	while (k->full) {
		pthread_cond_wait(&k->turn, &k->lock);
	}
}

int usk_packer_give(struct usk_packer *k, uint8_t **buffer, size_t size, size_t n, bool last)
{
	if (!k->started && (last || k->refused || !start(k, size))) {
		pack(k, *buffer, n, last);
		return k->error;
	}
	wait_for_room(k);
	uint8_t *filled = *buffer;
	*buffer = k->other;
	k->other = filled;
	k->n = n;
	k->last = last;
	k->full = true;
	int error = k->error;
	pthread_cond_signal(&k->turn);
	pthread_mutex_unlock(&k->lock);
	if (last) {
		wait_for_room(k);
		error = k->error;
		pthread_mutex_unlock(&k->lock);
	}
	return error;
}

void usk_packer_free(struct usk_packer *k)
{
	if (!k) {
		return;
	}
	if (k->started) {
		pthread_mutex_lock(&k->lock);
		k->over = true;
		pthread_cond_signal(&k->turn);
		pthread_mutex_unlock(&k->lock);
		pthread_join(k->thread, NULL);
	}
	pthread_cond_destroy(&k->turn);
	pthread_mutex_destroy(&k->lock);
	usk_pack_free(k->pack);
	free(k->other);
	free(k);
}
