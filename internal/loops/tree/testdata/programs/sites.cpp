#include "count.h"

/* One loop of the text that is put into several places: at some of them it never goes round, so that
 * no loop of the code stands there. */
static int v[40], w[40], c[64];
template <class F> static int each(const int *a, int n, F f)
{
	int k = 0;
	ENTER(0);
	for (int i = 0; i < n; i++) {
		TURN(0);
		if (f(a[i]))
			break;
		k++;
	}
	return k;
}
static inline int chain(const int *a, int at)
{
	int s = 0;
	ENTER(1);
	while (a[at] > at) {
		TURN(1);
		at = a[at];
		s += c[at & 63];
	}
	return s;
}
template <int N> __attribute__((noinline)) static int fill(int n)
{
	int s = 0;
	ENTER(2);
	for (int i = 0; i < n; i++) {
		TURN(2);
		c[i & 63] += N;
		s += c[(i + N) & 63];
	}
	return s;
}
template <int N> __attribute__((noinline)) static int last(const int *a, int n)
{
	ENTER(3);
	do {
		TURN(3);
		c[n & 63] ^= a[n] + N;
	} while (n-- > N);
	return n;
}
KERNEL int run(int n, int m)
{
	int s = 0;
	ENTER(4);
	for (int i = 0; i < n; i++) {
		TURN(4);
		s += each(v, 40, [&](int x) { return x + i >= 0; });
		s ^= each(w, 40, [&](int x) { return x == 7 + i; });
	}
	s += chain(v, m) + fill<1>(n) + last<5>(v, m);
	ENTER(5);
	for (int i = 0; i < m; i++) {
		TURN(5);
		s += chain(w, i) + fill<2>(n - 11) + fill<3>(i) + last<0>(w, i);
	}
	return s;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 40; i++)
		v[i] = random_number() % 3, w[i] = i + random_number() % 4 * (i < 35);
	int r = run(argc + 10, argc + 8);
	report();
	return r == -7777777;
}
