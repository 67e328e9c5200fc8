#include "count.h"
static int a[64], b[64], c[64], p[64];
KERNEL int run(int n, int m)
{
	int x = n;
	if (b[(x) & 63] <= x) {
		x = b[(0) & 63];
		b[(c[(a[(n) & 63]) & 63]) & 63] -= 1;
	}
	ENTER(0);
	for (int v0 = n - 2; v0 > 0; v0--) {
		TURN(0);
		c[(b[(n) & 63]) & 63] += (b[(n) & 63] ^ b[(m) & 63]);
	}
	a[(m) & 63] += m;
	c[((b[(m) & 63] * a[(m) & 63])) & 63] += m;
	ENTER(1);
	for (int v1 = 0; v1 < m; v1++) {
		TURN(1);
		if ((a[(x) & 63]) & 1) {
			ENTER(2);
			for (int v2 = 0; v2 < 5; v2++) {
				TURN(2);
				ENTER(3);
				for (int v3 = 0; v3 < m + 1; v3++) {
					TURN(3);
					b[(c[(1) & 63]) & 63] = a[(m) & 63];
					b[(v3) & 63] ^= n;
					c[(v3) & 63] ^= ((3 ^ v1) - (v3 ^ 9));
				}
				switch (n & 3) {
				case 0: a[m & 63]++; break;
				case 1: a[v2 & 63]++; break;
				default: x++; }
				ENTER(4);
				for (int v4 = 0; v4 < m + 1; v4++) {
					TURN(4);
					b[(9) & 63] = a[(b[(v2) & 63]) & 63];
					b[((n * (9 ^ b[(m) & 63]))) & 63] += (n * v1);
				}
			}
			ENTER(5);
			for (int v5 = n; v5 > 0; v5--) {
				TURN(5);
				switch (v1 & 3) {
				case 0: b[x & 63]++; break;
				case 1: a[v5 & 63]++; break;
				default: x++; }
				switch ((x - 9) & 3) {
				case 0: b[m & 63]++; break;
				case 1: a[x & 63]++; break;
				case 2: a[m & 63]++; break;
				default: x++; }
				a[((6 & x)) & 63] ^= m;
			}
		} else {
			ENTER(6);
			for (int v6 = 0; v6 < (x & 7); v6 += 3) {
				TURN(6);
				b[(c[(3) & 63]) & 63] = (v6 & (x ^ n));
				a[(b[(m) & 63]) & 63] += m;
				a[(x) & 63] = m;
			}
		}
		if ((x) & 4) {
			b[(a[((1 * c[(m) & 63])) & 63]) & 63] ^= ((5 & c[(n) & 63]) + c[(n) & 63]);
		} else {
			int v7 = 0;
			ENTER(7);
			for (;;) {
				TURN(7);
				if (v7++ >= 8)
					break;
				c[(0) & 63] -= 2;
				switch (m & 3) {
				case 0: a[n & 63]++; break;
				case 1: c[n & 63]++; break;
				default: x++; }
				ENTER(8);
				for (int v8 = 0; v8 < n - 2; v8 += 2) {
					TURN(8);
					a[(v8) & 63] += b[((4 + b[(v1) & 63])) & 63];
					b[(n) & 63] = 1;
					c[(v7) & 63] -= 7;
				}
			}
		}
	}
	a[(a[((a[(n) & 63] - 3)) & 63]) & 63] += (c[(n) & 63] & (b[(m) & 63] - x));
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
