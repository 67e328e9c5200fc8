/* One function allocates for all; who calls it says what for. Half of what
 * `rows` makes is never freed. */
#include <stdlib.h>

static __attribute__((noinline)) void *must(size_t n)
{
	void *p = malloc(n);
	if (!p)
		abort();
	return p;
}

static void *volatile keep[64];

static __attribute__((noinline)) void rows(void)
{
	for (int i = 0; i < 40; i++)
		keep[i] = must(1000 + 10 * i);
	for (int i = 0; i < 20; i++)
		free(keep[i]);
}

static __attribute__((noinline)) void table(void)
{
	keep[63] = must(300000);
}

static __attribute__((noinline)) void scratch(int n)
{
	for (int i = 0; i < n; i++) {
		void *volatile a = must(5000), *volatile b = calloc(7, 11);
		free(a);
		free(b);
	}
}

int main(void)
{
	scratch(10);
	rows();
	scratch(15);
	table();
	free(keep[63]);
	scratch(1);
	return 0;
}
