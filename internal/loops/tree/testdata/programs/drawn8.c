#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	ENTER(0);
	for (int v0 = 0; v0 < (a[(x) & 63] & 7); v0++) {
		TURN(0);
		b[(7) & 63] += (7 - (c[(n) & 63] ^ 4));
		ENTER(1);
		for (int v1 = v0 & 7; v1 < 8; v1++) {
			TURN(1);
			a[(x) & 63] -= (a[(n) & 63] & x);
			if ((c[(v1) & 63] * b[(n) & 63]) > (v0 * (5 & n))) {
				c[(c[((b[(n) & 63] + n)) & 63]) & 63] ^= v0;
				c[((v1 + x)) & 63] += (x + (2 & 3));
			} else {
				b[(9) & 63] = x;
			}
		}
		c[(v0) & 63] ^= v0;
	}
	if (a[(x) & 63] == 9) {
		int v2 = n - 2;
		ENTER(2);
		while (v2-- > 0) {
			TURN(2);
			b[(1) & 63] += b[((4 + v2)) & 63];
		}
	}
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	unsigned v3 = x & 255;
	ENTER(3);
	while (v3) {
		TURN(3);
		v3 >>= 1;
		a[(c[(a[(m) & 63]) & 63]) & 63] -= c[((c[(n) & 63] & v3)) & 63];
		ENTER(4);
		for (int v4 = m & 7; v4 < 8; v4++) {
			TURN(4);
			b[(v3) & 63] ^= (b[(v4) & 63] * b[(m) & 63]);
			switch (v3 & 3) {
			case 0: b[v4 & 63]++; break;
			case 1: b[n & 63]++; break;
			case 2: b[v3 & 63]++; break;
			default: x++; }
		}
	}
	x += h0(a[(8) & 63], 4);
	ENTER(5);
	for (int v5 = 0; v5 < 3; v5 += 3) {
		TURN(5);
		x += h0(m, m);
	}
	ENTER(6);
	for (int v6 = m & 7; v6 < 8; v6++) {
		TURN(6);
		if ((a[(m) & 63] ^ (4 + c[(v6) & 63])) < (n * v6)) {
			ENTER(7);
			for (int v7 = 0; v7 < m + 1; v7 += 2) {
				TURN(7);
				ENTER(8);
				for (int v8 = 0; v8 < 3; v8++) {
					TURN(8);
					b[(x) & 63] ^= 2;
					b[(v8) & 63] = n;
					a[(n) & 63] = (v8 - (b[(m) & 63] - b[(x) & 63]));
				}
				h0((m - 2), n);
			}
			ENTER(9);
			for (int v9 = 0; v9 < n - 2; v9++) {
				TURN(9);
				int v10 = m;
				ENTER(10);
				while (v10-- > 0) {
					TURN(10);
					c[(c[(n) & 63]) & 63] -= ((a[(m) & 63] ^ m) & (v10 + a[(v10) & 63]));
					a[(2) & 63] -= c[((v9 + 3)) & 63];
				}
				int v11 = 2;
				ENTER(11);
				while (v11-- > 0) {
					TURN(11);
					b[(0) & 63] += (c[(m) & 63] + n);
					b[(8) & 63] += v11;
				}
				a[((c[(m) & 63] ^ (v6 ^ a[(v6) & 63]))) & 63] -= v9;
			}
		}
		c[(b[(9) & 63]) & 63] -= n;
		unsigned v12 = v6 & 255;
		ENTER(12);
		while (v12) {
			TURN(12);
			v12 >>= 1;
			ENTER(13);
			for (int v13 = m + 1; v13 > 0; v13--) {
				TURN(13);
				x += (c[(n) & 63] & m);
			}
			a[(x) & 63] -= x;
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
