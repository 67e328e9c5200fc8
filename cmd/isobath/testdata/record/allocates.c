/* Half of the memory is hardly used; the other half is all that costs. Rows come
 * and go. */
#include <stdlib.h>

enum { N = 4 << 20 };

static __attribute__((noinline)) char *grab(size_t n) { return malloc(n); }
static __attribute__((noinline)) char *cold(void) { return grab(N); }
static __attribute__((noinline)) char *hot(void) { return grab(N); }

int main(void)
{
	char *volatile a = cold();
	char *volatile b = hot();
	unsigned at = 1, sum = 0;
	a[0] = 1;
	for (int i = 0; i < N; i++)
		b[i] = i;
	for (int i = 0; i < 20000000; i++) {
		at = at * 1664525u + 1013904223u;
		sum += b[at >> 10];
		if (i % 100000 == 0) {
			char *volatile row = grab(9000);
			free(row);
		}
	}
	return sum == 1;
}
