#include "count.h"
#define EACH(v, l) for (int v = 0; v < (l); v++)
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	ENTER(0);
	for (int v0 = n & 7; v0 < 8; v0++) {
		TURN(0);
		ENTER(1);
		for (int v1 = 0; v1 < n; v1 += 3) {
			TURN(1);
			b[(((1 + x) ^ x)) & 63] += n;
			ENTER(2);
			EACH(v2, n - 2) {
				TURN(2);
				b[(v1) & 63] += a[(a[(n) & 63]) & 63];
				c[(v1) & 63] -= 8;
				c[(n) & 63] += x;
			}
		}
	}
	return x;
}
static int h1(int x, int n)
{
	int m = n + 1;
	switch (n & 3) {
	case 0: b[x & 63]++; /* goes on */
	case 1: c[n & 63]++; /* goes on */
	default: x++; }
	b[(a[(b[(n) & 63]) & 63]) & 63] -= (c[(n) & 63] * (3 + 8));
	return x;
}
static int h2(int x, int n)
{
	int m = n + 1;
	int v3 = 1 & 63;
	ENTER(3);
	while (p[v3] != v3) {
		TURN(3);
		v3 = p[v3];
		c[(9) & 63] += a[(a[(v3) & 63]) & 63];
		ENTER(4);
		for (int v4 = 0; v4 < 9; v4++) {
			TURN(4);
			ENTER(5);
			for (int v5 = (b[(6) & 63] & 7); v5 > 0; v5--) {
				TURN(5);
				b[(c[(v4) & 63]) & 63] += x;
				a[(a[(7) & 63]) & 63] ^= a[(v5) & 63];
			}
			c[(n) & 63] = a[(v4) & 63];
		}
	}
	out3: ;
	x += h0(a[((1 * x)) & 63], m);
	ENTER(6);
	for (int v6 = n; v6 > 0; v6--) {
		TURN(6);
		b[(x) & 63] -= c[((4 & n)) & 63];
		ENTER(7);
		for (long v7 = 1; v7 < n - 2 * 8; v7 *= 2) {
			TURN(7);
			if ((b[(x) & 63] * c[(n) & 63]) < (v7 ^ v6)) {
				c[(a[(n) & 63]) & 63] = ((v7 - b[(v7) & 63]) & x);
				a[(((v7 + 5) ^ (5 ^ 3))) & 63] += v7;
			}
		}
	}
	out6: ;
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	if (n > 2 && c[x & 63]) {
		int v8 = n - 2;
		ENTER(8);
		while (v8 > 0) {
			TURN(8);
			v8 -= 1 + (b[v8 & 63] & 1);
			ENTER(9);
			for (int v9 = 0; v9 < 6; v9++) {
				TURN(9);
				b[(((3 ^ 3) ^ 0)) & 63] ^= (v9 + 8);
			}
			ENTER(10);
			for (int v10 = 0; v10 < m; v10++) {
				TURN(10);
				h2(m, 4);
				if (n != 0) {
					b[(b[(n) & 63]) & 63] ^= a[(x) & 63];
					a[(b[(m) & 63]) & 63] = 8;
				} else {
					a[(b[((4 * c[(v8) & 63])) & 63]) & 63] -= (v8 ^ b[(n) & 63]);
				}
			}
			ENTER(11);
			for (int v11 = 0; v11 < 6 && a[v11 & 63] != 7; v11++) {
				TURN(11);
				x = 8;
				b[(0) & 63] ^= v11;
				ENTER(12);
				for (int v12 = 0; v12 < m; v12 += 2) {
					TURN(12);
					b[(v8) & 63] -= 7;
					a[(1) & 63] ^= c[((v11 + m)) & 63];
				}
			}
		}
		out8: ;
	} else {
		int v13 = m & 63;
		ENTER(13);
		while (p[v13] != v13) {
			TURN(13);
			v13 = p[v13];
			b[(b[(a[(v13) & 63]) & 63]) & 63] -= (x ^ v13);
		}
		out13: ;
	}
	a[((1 * n)) & 63] = m;
	b[((m ^ b[(x) & 63])) & 63] += c[((x * 0)) & 63];
	h0(x, m);
	h1(x, m);
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
