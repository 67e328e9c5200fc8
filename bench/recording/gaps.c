/*
 * Prints the share of its time that was taken away from it in small pieces, as
 * interrupts do: it reads the clock without pause, and whatever lies between
 * two readings beyond their own cost is lost. Gaps of 50 µs and more are other
 * programs' turns and count neither as lost nor as its own time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int main(int argc, char **argv)
{
	long long span = (argc > 1 ? atoll(argv[1]) : 1000) * 1000000, total = 0, lost = 0, gaps = 0;
	for (long long last = now(); total < span;) {
		long long t = now(), d = t - last;
		last = t;
		if (d >= 50000)
			continue;
		total += d;
		if (d > 400) {
			lost += d;
			gaps++;
		}
	}
	FILE *out = argc > 2 ? fopen(argv[2], "w") : stdout;
	if (!out)
		return 1;
	fprintf(out, "%.9f %lld\n", (double)lost / total, gaps);
	return fclose(out) != 0;
}
