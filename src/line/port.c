/* SPDX-License-Identifier: MIT */
/*
 * port.c - a line over two parallel ports and a crossed cable, through the kernel's ppdev
 *
 * Source  Loeser 2003, section 2 and figure 2: D1 of each to SELECT of the other, D3 to NACK,
 *         which raises an interrupt where the port has one
 */
#include "line/line.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/parport.h>
#include <linux/ppdev.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct port {
	struct line line; /* first: a line is what it begins with */
	int fd;
	bool claimed;
};

/* Bits of the data register. */
enum { DATA_D1 = 1 << 1, DATA_D3 = 1 << 3 };

static int control(struct port *p, unsigned long what, void *value)
{
	if (ioctl(p->fd, what, value)) {
		p->line.error = errno;
		return -1;
	}
	return 0;
}

static void set(struct line *l, unsigned pins)
{
	unsigned char data =
		(unsigned char)((pins & LINE_D1 ? DATA_D1 : 0) | (pins & LINE_D3 ? DATA_D3 : 0));
	control((struct port *)l, PPWDATA, &data);
}

static unsigned pins(struct line *l)
{
	unsigned char status = 0;
	if (control((struct port *)l, PPRSTATUS, &status)) {
		return 0;
	}
	return (status & PARPORT_STATUS_SELECT ? (unsigned)LINE_D1 : 0) |
	       (status & PARPORT_STATUS_ACK ? (unsigned)LINE_D3 : 0);
}

/* Ports without an interrupt are looked at now and then. */
static void wait_for(struct line *l, int64_t ns)
{
	enum { LOOK_MS = 1 };
	struct port *p = (struct port *)l;
	struct pollfd fd = { .fd = p->fd, .events = POLLIN };
	int count;
	if (poll(&fd, 1, ns < LOOK_MS * 1000000 ? 0 : LOOK_MS) > 0) {
		control(p, PPCLRIRQ, &count);
	}
}

static void close_port(struct line *l)
{
	struct port *p = (struct port *)l;
	if (p->claimed) {
		set(l, 0);
		ioctl(p->fd, PPRELEASE);
	}
	close(p->fd);
	free(p);
}

enum usk_status line_port_open(const char *path, struct line_counter counter, struct line **out,
			       struct usk_err *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK), mode;
	if (fd < 0) {
		return usk_fail(err, USK_EIO, 0, "%s: cannot be opened: %s%s", path,
				strerror(errno),
				errno == ENOENT || errno == ENXIO ? "; is there a parallel port, "
								    "and the module ppdev?"
								  : "");
	}
	struct port *p = usk_alloc(1, sizeof *p);
	p->fd = fd;
	p->line = (struct line){ .set = set,
				 .pins = pins,
				 .wait = wait_for,
				 .pause = line_sleep,
				 .time_ns = line_boot_time_ns,
				 .close = close_port,
				 .counter = counter };
	enum usk_status status = USK_OK;
	/* The question comes first: it fails on what is no port, and claims nothing. */
	if (ioctl(fd, PPGETMODE, &mode)) {
		status = usk_fail(err, USK_EINPUT, 0, "%s: is no parallel port", path);
	} else if (ioctl(fd, PPEXCL) || ioctl(fd, PPCLAIM)) {
		status = usk_fail(err, USK_EIO, 0,
				  "%s: cannot be had alone: %s; does a printer driver hold it?",
				  path, strerror(errno));
	} else {
		p->claimed = true;
		set(&p->line, 0);
		if (p->line.error) {
			status = usk_fail(err, USK_EIO, 0, "%s: its pins cannot be set: %s", path,
					  strerror(p->line.error));
		}
	}
	if (status) {
		close_port(&p->line);
		return status;
	}
	p->line.rests_until = line_boot_time_ns(NULL) + LINE_REST_NS;
	*out = &p->line;
	return USK_OK;
}
