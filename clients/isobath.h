/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Isobath authors */
/*
 * isobath.h: tell Isobath what your buffers are and what your program is doing.
 *
 *     #include "isobath.h"
 *
 *     double *u = malloc(nx * ny * sizeof *u);
 *     isobath_buffer2("u", u, sizeof *u, nx, ny);    x varies fastest
 *     for (int it = 0; it < steps; it++) {
 *         isobath_state("iteration", it);
 *         isobath_phase("phase", "smooth");
 *         ...
 *     }
 *
 * Nothing has to be linked. Under `isobath record` every call appends one line
 * to a file (about a microsecond); otherwise it does nothing after one look at
 * the environment. C99 and C++98 and later, Linux.
 */
#ifndef ISOBATH_H
#define ISOBATH_H

#if defined(__linux__)

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ISOBATH_UNUSED __attribute__((unused))
#else
#define ISOBATH_UNUSED
#endif

/* The file of this recording; -1 if there is none. */
static ISOBATH_UNUSED int isobath_file(void)
{
	static int fd = -2;
	if (fd == -2) {
		const char *path = getenv("ISOBATH_MARKS");
		fd = path && *path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
	}
	return fd;
}

/* Whether the program is being recorded. */
static ISOBATH_UNUSED int isobath_recording(void) { return isobath_file() >= 0; }

static ISOBATH_UNUSED unsigned long long isobath_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}

static ISOBATH_UNUSED void isobath_line(const char *line, int n, size_t room)
{
	if (n > 0 && (size_t)n < room && write(isobath_file(), line, (size_t)n) < 0)
		return; /* a mark that is lost costs a name only */
}

/* Names a buffer of up to three dimensions; unused extents are 1. The first
 * extent varies fastest. Name it again after it was allocated again. */
static ISOBATH_UNUSED void isobath_buffer(const char *name, const void *p, size_t element, int dimensions, size_t d0, size_t d1, size_t d2)
{
	char line[512];
	if (isobath_file() < 0)
		return;
	isobath_line(line, snprintf(line, sizeof line, "buffer %ld %ld %llu 0x%llx %llu %d %llu %llu %llu %.200s\n", (long)getpid(), (long)syscall(SYS_gettid),
		isobath_time(), (unsigned long long)(size_t)p, (unsigned long long)element, dimensions, (unsigned long long)d0, (unsigned long long)d1, (unsigned long long)d2, name), sizeof line);
}

static ISOBATH_UNUSED void isobath_buffer1(const char *name, const void *p, size_t element, size_t n) { isobath_buffer(name, p, element, 1, n, 1, 1); }

static ISOBATH_UNUSED void isobath_buffer2(const char *name, const void *p, size_t element, size_t nx, size_t ny) { isobath_buffer(name, p, element, 2, nx, ny, 1); }

static ISOBATH_UNUSED void isobath_buffer3(const char *name, const void *p, size_t element, size_t nx, size_t ny, size_t nz) { isobath_buffer(name, p, element, 3, nx, ny, nz); }

/* Sets a state variable of the process: an iteration, a time, a coordinate. It
 * becomes a column of the samples. */
static ISOBATH_UNUSED void isobath_state(const char *name, double value)
{
	char line[512];
	if (isobath_file() < 0)
		return;
	isobath_line(line, snprintf(line, sizeof line, "state %ld %ld %llu %.17g %.200s\n", (long)getpid(), (long)syscall(SYS_gettid), isobath_time(), value, name), sizeof line);
}

/* The same with a word for a value. */
static ISOBATH_UNUSED void isobath_phase(const char *name, const char *word)
{
	char line[512];
	if (isobath_file() < 0)
		return;
	isobath_line(line, snprintf(line, sizeof line, "word %ld %ld %llu 0 %.100s=%.100s\n", (long)getpid(), (long)syscall(SYS_gettid), isobath_time(), name, word), sizeof line);
}

#ifdef __cplusplus
}
#endif

#else /* not Linux: nothing can be recorded */

#define isobath_recording() 0
#define isobath_buffer(name, p, element, dimensions, d0, d1, d2) ((void)0)
#define isobath_buffer1(name, p, element, n) ((void)0)
#define isobath_buffer2(name, p, element, nx, ny) ((void)0)
#define isobath_buffer3(name, p, element, nx, ny, nz) ((void)0)
#define isobath_state(name, value) ((void)0)
#define isobath_phase(name, word) ((void)0)

#endif
#endif
