#include "count.h"
static int a[70], b[70];
static int twice(int x) { return 2 * x; }
static int clip(int x) { return x > 500 ? 500 : x; }
static void map(int *p, int n, int (*f)(int))
{
	ENTER(1);
	for (int *end = p + n; p < end; ++p) {
		TURN(1);
		*p = f(*p);
	}
}
KERNEL void run(void)
{
	int (*const steps[])(int) = {twice, clip, twice};
	ENTER(0);
	for (unsigned k = 0; k < sizeof steps / sizeof *steps; k++) {
		TURN(0);
		map(a, 70, steps[k]);
	}
	map(b, 11, clip);
	int i = 0, j = 69;
	ENTER(2);
	while (i < j) {
		TURN(2);
		int t = a[i];
		a[i++] = a[j];
		a[j--] = t;
	}
}
int main(void)
{
	for (int i = 0; i < 70; i++)
		a[i] = b[i] = random_number() % 1000;
	run();
	report();
	return 0;
}
