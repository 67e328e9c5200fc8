#include "count.h"
#define EACH(v, l) for (int v = 0; v < (l); v++)
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	b[(x) & 63] += x;
	return x;
}
static int h1(int x, int n)
{
	int m = n + 1;
	a[(a[((a[(x) & 63] * b[(x) & 63])) & 63]) & 63] = a[((n + 4)) & 63];
	return x;
}
static int h2(int x, int n)
{
	int m = n + 1;
	if (n < 1 || n > 6)
		return x;
	ENTER(0);
	EACH(v0, (a[((4 + 6)) & 63] & 7)) {
		TURN(0);
		b[((x - v0)) & 63] -= n;
	}
	out0: ;
	x += h1((c[(n) & 63] + x), m);
	c[(x) & 63] ^= ((n - c[(n) & 63]) + n);
	return h2((5 ^ (2 - x)), n - 2);
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	int v1 = 0;
	ENTER(1);
	do {
		TURN(1);
		c[((n & n)) & 63] = c[(x) & 63];
		int v2 = 0;
		ENTER(2);
		do {
			TURN(2);
			v2++;
			h2(v1, m);
			if ((v1 ^ c[(m) & 63]) != x) {
				int v3 = 0;
				ENTER(3);
				for (;;) {
					TURN(3);
					if (v3++ >= n - 2)
						break;
					c[(((v1 ^ c[(n) & 63]) & c[(v2) & 63])) & 63] += b[((n * 3)) & 63];
					a[(2) & 63] -= m;
					b[((c[(m) & 63] * c[(v1) & 63])) & 63] += b[(a[(v2) & 63]) & 63];
				}
			} else {
				a[((x ^ (4 ^ b[(n) & 63]))) & 63] ^= v1;
			}
		} while (v2 < 9);
		if ((6) & 3) {
			x += b[((4 ^ n)) & 63];
			a[(n) & 63] ^= n;
		}
	} while (++v1 < n && a[v1 & 63] > 0);
	out1: ;
	h2((m ^ x), n);
	c[(a[((x ^ c[(x) & 63])) & 63]) & 63] -= 5;
	b[((9 * n)) & 63] += ((n ^ 2) & b[(m) & 63]);
	a[((b[(m) & 63] * (x - a[(x) & 63]))) & 63] ^= 3;
	ENTER(4);
	EACH(v4, m + 1) {
		TURN(4);
		if (m <= ((m & b[(x) & 63]) - (5 - c[(v4) & 63]))) {
			ENTER(5);
			for (int v5 = ((v4 - b[(n) & 63]) & 7); v5 > 0; v5--) {
				TURN(5);
				ENTER(6);
				for (int v6 = 0; v6 < 6; v6++) {
					TURN(6);
					b[(x) & 63] += (m * (5 * 2));
				}
			}
			out5: ;
		}
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
