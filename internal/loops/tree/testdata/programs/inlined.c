#include "count.h"
static int a[50], b[33], c[8], s;
static inline int total(const int *p, int n)
{
	int t = 0;
	ENTER(1);
	for (int i = 0; i < n; i++) {
		TURN(1);
		if (p[i] & 1)
			t += p[i];
	}
	return t;
}
KERNEL void run(void)
{
	s = total(a, 50);
	ENTER(0);
	for (int r = 0; r < 6; r++) {
		TURN(0);
		b[r] = total(b, 33);
		if (b[r] & 2)
			s += total(c, r);
	}
	s += total(c, 8) + total(c, s & 3);
}
int main(void)
{
	for (int i = 0; i < 50; i++)
		a[i] = b[i % 33] = c[i % 8] = random_number();
	run();
	report();
	return s == 0;
}
