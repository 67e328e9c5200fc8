#include "count.h"
#define EACH(v, l) for (int v = 0; v < (l); v++)
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	if ((a[(a[(x) & 63]) & 63]) & 3) {
		x ^= 8;
		c[(3) & 63] = ((4 & x) * x);
	}
	return x;
}
static int h1(int x, int n)
{
	int m = n + 1;
	b[(n) & 63] += c[(x) & 63];
	if ((c[(x) & 63] - (x + b[(n) & 63])) == x) {
		if (n > 0 && a[x & 63] > 2) {
			ENTER(0);
			for (int v0 = 0; v0 < n - 2; v0++) {
				TURN(0);
				c[(6) & 63] = n;
				c[(v0) & 63] ^= a[((9 - x)) & 63];
			}
			if (n != a[(c[(x) & 63]) & 63]) {
				a[(c[((n * 4)) & 63]) & 63] -= a[(n) & 63];
			}
		} else {
			c[(n) & 63] += (b[(x) & 63] ^ x);
		}
		c[(8) & 63] -= n;
	}
	int v1 = 0;
	ENTER(1);
	for (;;) {
		TURN(1);
		if (v1++ >= m)
			break;
		if (v1 > n)
			continue;
		if (3 < v1) {
			a[(c[((c[(x) & 63] ^ 2)) & 63]) & 63] += v1;
			c[(n) & 63] = v1;
		}
		ENTER(2);
		for (int v2 = 0; v2 < n; v2++) {
			TURN(2);
			c[v2] = a[v2] + b[v2];
		}
	}
	return x;
}
static int h2(int x, int n)
{
	int m = n + 1;
	h1(a[((n & n)) & 63], m);
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	if (4 != (0 + a[(m) & 63])) {
		h0(c[(x) & 63], 4);
		x += h2(((1 * c[(x) & 63]) + n), 4);
	}
	ENTER(3);
	for (int v3 = 0; v3 < m + 1; v3++) {
		TURN(3);
		if (n > 1 || c[n & 63]++ & 1) {
			c[((x * 8)) & 63] -= v3;
		}
		c[(v3) & 63] ^= n;
		h2(a[(b[(v3) & 63]) & 63], 4);
	}
	out3: ;
	ENTER(4);
	for (int v4 = 0; v4 < 31; v4++) {
		TURN(4);
		x += b[v4];
	}
	return x;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 64; i++)
		a[i] = random_number() % 9, b[i] = random_number() % 5, c[i] = i, p[i] = i ? random_number() % i : 0;
	int r = run(argc + 4, argc + 6);
	report();
	return r == -7777777;
}
