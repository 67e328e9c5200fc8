/*
 * Measures the processor time of a fixed amount of work on one CPU:
 *
 *     beside ROUNDS CPU READY GO OUT
 *
 * It binds itself to the CPU, creates the file READY, waits for a byte in the
 * named pipe GO, works, and writes nanoseconds into OUT. Two of
 * them that are let go together share the CPU in turns of some milliseconds, so
 * that whatever else happens on the machine happens to both.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static volatile double a[512];

static void work(long rounds)
{
	for (long r = 0; r < rounds; r++)
		for (int i = 1; i < 512; i++)
			a[i] = a[i] * 0.999 + a[i - 1];
}

int main(int argc, char **argv)
{
	cpu_set_t set;
	char byte;
	if (argc != 6)
		return 2;
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[2]), &set);
	if (sched_setaffinity(0, sizeof set, &set))
		return 1;
	for (int i = 0; i < 512; i++)
		a[i] = i;
	work(1000);
	int go = open(argv[4], O_RDWR); /* never at its end */
	if (go < 0 || open(argv[3], O_WRONLY | O_CREAT, 0600) < 0 || read(go, &byte, 1) != 1)
		return 1;
	long long from = used();
	work(atol(argv[1]));
	long long spent = used() - from;
	FILE *out = fopen(argv[5], "w");
	if (!out)
		return 1;
	fprintf(out, "%lld\n", spent);
	return fclose(out) != 0;
}
