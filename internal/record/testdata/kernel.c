/* Three phases of as much processor time: page faults, system calls, and none of
   both. How much of each was spent in the kernel by its own count goes to a file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static char pages[16 << 20] __attribute__((aligned(4096)));
static char buffer[1 << 16];
static volatile unsigned long sum;

static double used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void faults(void)
{
	for (size_t i = 0; i < sizeof pages; i += 4096)
		pages[i] = 1;
	madvise(pages, sizeof pages, MADV_DONTNEED);
}

static int zero;

static void calls(void)
{
	for (int i = 0; i < 100; i++)
		if (read(zero, buffer, sizeof buffer) < 0)
			return;
}

static void computes(void)
{
	for (int i = 0; i < 1000000; i++)
		sum += i;
}

int main(int argc, char **argv)
{
	void (*phases[])(void) = {faults, calls, computes};
	FILE *out = fopen(argv[argc - 1], "w");
	zero = open("/dev/zero", O_RDONLY);
	for (int p = 0; p < 3; p++) {
		struct rusage before, after;
		double from = used();
		getrusage(RUSAGE_SELF, &before);
		while (used() - from < 0.3)
			phases[p]();
		getrusage(RUSAGE_SELF, &after);
		fprintf(out, "%f %f\n", used() - from, after.ru_stime.tv_sec - before.ru_stime.tv_sec + (after.ru_stime.tv_usec - before.ru_stime.tv_usec) / 1e6);
	}
	fclose(out);
	return 0;
}
