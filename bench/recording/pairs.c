/* Prints the nanoseconds of processor time that one small allocation and its
 * end take. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(void)
{
	enum { N = 10000000 };
	struct timespec from, to;
	void *volatile keep;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (int i = 0; i < N; i++) {
		keep = malloc(64);
		free(keep);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	printf("%f\n", ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / N);
	return 0;
}
