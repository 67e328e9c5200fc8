/* Fills its log from many places, none of which allocates so often that it is only
 * counted; then takes the memory of something that is in the log for something that
 * is not. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept;

#define FROM(n) \
	static __attribute__((noinline)) void from##n(void) \
	{ \
		for (int i = 0; i < 10000; i++) { \
			kept = malloc(5000); \
			free(kept); \
		} \
	}
#define TEN(f, n) f(n##0) f(n##1) f(n##2) f(n##3) f(n##4) f(n##5) f(n##6) f(n##7) f(n##8) f(n##9)
#define EIGHTY(f) TEN(f, 1) TEN(f, 2) TEN(f, 3) TEN(f, 4) TEN(f, 5) TEN(f, 6) TEN(f, 7) TEN(f, 8)
#define CALL(n) from##n();

EIGHTY(FROM)

int main(void)
{
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	char *old = malloc(300000), *wall = malloc(5000); /* behind it, so that it is not joined with others */
	EIGHTY(CALL)
	free(old);
	char *again = malloc(300000);
	wall[0] = again[0] = 1;
	printf("%d %p\n", again == old, (void *)again);
	return 6;
}
