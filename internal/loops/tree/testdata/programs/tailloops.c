#include "count.h"
static int a[64], b[64];
static void down(int n)
{
	ENTER(0);
	for (int i = 0; i < 6; i++) {
		TURN(0);
		a[i] += n;
	}
	if (n > 0)
		down(n - 1);
}
static int chain(int x, int n)
{
	if (n < 1)
		return x;
	ENTER(1);
	for (int i = 0; i < (b[n] & 1); i++) {
		TURN(1);
		a[(x + i) & 63] -= n;
	}
	b[x & 63] ^= n;
	return chain(x + 3, n - 2);
}
static int sum(const int *p, int n)
{
	int s = 0;
	ENTER(2);
	while (*p > 0) {
		TURN(2);
		s += *p++;
	}
	if (n == 0)
		return s;
	return sum(p + 1, n - 1);
}
KERNEL int run(int n)
{
	down(n);
	int x = chain(n, n);
	return x + sum(a, n);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 64; i++)
		a[i] = random_number() % 9, b[i] = 1;
	int r = run(argc + 5);
	report();
	return r == -7777777;
}
