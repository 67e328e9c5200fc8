#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	if ((a[(a[(n) & 63]) & 63]) & 4) {
		if ((a[(n) & 63]) & 4) {
			int v0 = n;
			ENTER(0);
			while (v0-- > 0) {
				TURN(0);
				b[(n) & 63] ^= n;
			}
			int v1 = 0;
			ENTER(1);
			for (;;) {
				TURN(1);
				if (v1++ >= n)
					break;
				c[(((3 + x) ^ n)) & 63] += (n & (1 * n));
			}
		}
	}
	return x;
}
static int h1(int x, int n)
{
	int m = n + 1;
	switch (a[((0 ^ x)) & 63] & 3) {
	case 0: b[n & 63]++; break;
	case 1: b[n & 63]++; break;
	default: x++; }
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	if (((x & x)) & 1) {
		x += h1(a[((n + x)) & 63], n);
	}
	ENTER(2);
	for (int v2 = n & 7; v2 < 8; v2++) {
		TURN(2);
		ENTER(3);
		for (int v3 = 0; v3 < (x & 7); v3++) {
			TURN(3);
			int v4 = (m & 7);
			ENTER(4);
			while (v4-- > 0) {
				TURN(4);
				if ((v3) & 3) {
					c[(v3) & 63] ^= ((a[(v3) & 63] - x) - 5);
					a[(c[(a[(m) & 63]) & 63]) & 63] += m;
				}
			}
			a[((c[(x) & 63] * b[(v2) & 63])) & 63] = 2;
		}
		if (6 == m) {
			c[(m) & 63] = (b[(v2) & 63] ^ x);
		} else {
			int v5 = c[(v2) & 63] & 63;
			ENTER(5);
			while (p[v5] != v5) {
				TURN(5);
				v5 = p[v5];
				if (x == c[((a[(m) & 63] - 4)) & 63])
					break;
				a[(v5) & 63] += v2;
				a[(v2) & 63] ^= a[(b[(m) & 63]) & 63];
			}
		}
	}
	ENTER(6);
	for (int v6 = 0; v6 < m + 1; v6++) {
		TURN(6);
		int v7 = 0;
		ENTER(7);
		do {
			TURN(7);
			v7++;
			c[(x) & 63] -= a[(a[(x) & 63]) & 63];
			ENTER(8);
			for (int v8 = v7 & 7; v8 < 8; v8++) {
				TURN(8);
				a[(((v8 ^ c[(m) & 63]) ^ 0)) & 63] += (0 ^ c[(n) & 63]);
				int v9 = v6 & 63;
				ENTER(9);
				while (p[v9] != v9) {
					TURN(9);
					v9 = p[v9];
					c[((c[(v8) & 63] & (a[(x) & 63] ^ c[(v9) & 63]))) & 63] = 1;
					a[((b[(v7) & 63] * v6)) & 63] ^= b[(v7) & 63];
				}
				x += h0((m * a[(n) & 63]), n);
			}
			if (x < x)
				continue;
		} while (v7 < (c[(b[(x) & 63]) & 63] & 7));
		ENTER(10);
		for (int v10 = 0; v10 < n - 2; v10++) {
			TURN(10);
			x += h0((8 * (2 ^ b[(v6) & 63])), n);
			x ^= v10;
			if ((b[(n) & 63] * 7) > 6) {
				c[(((4 ^ a[(v6) & 63]) + v10)) & 63] -= v10;
				ENTER(11);
				for (int v11 = ((v6 ^ (1 ^ x)) & 7); v11 > 0; v11--) {
					TURN(11);
					a[(c[((m ^ 1)) & 63]) & 63] += 0;
				}
			} else {
				c[(v6) & 63] ^= 4;
			}
		}
		if (b[(n) & 63] > v6)
			continue;
	}
	int v12 = m + 1;
	ENTER(12);
	while (v12-- > 0) {
		TURN(12);
		if (((n + c[(v12) & 63])) & 4) {
			if (x == m) {
				b[(2) & 63] -= ((1 * 1) - (9 + n));
				int v13 = 0;
				ENTER(13);
				for (;;) {
					TURN(13);
					if (v13++ >= 7)
						break;
					a[((v13 & 4)) & 63] -= a[(c[(m) & 63]) & 63];
					b[(b[(n) & 63]) & 63] = ((2 + a[(x) & 63]) * c[(m) & 63]);
					a[(4) & 63] += x;
				}
			}
		} else {
			x += h1(m, n);
		}
		x += h0(n, 4);
	}
	switch (4 & 3) {
	case 0: c[m & 63]++; break;
	case 1: b[m & 63]++; break;
	case 2: c[n & 63]++; break;
	default: x++; }
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
