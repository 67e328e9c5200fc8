#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	if ((b[(n) & 63]) & 2) {
		int v0 = m + 1;
		ENTER(0);
		while (v0-- > 0) {
			TURN(0);
			ENTER(1);
			for (int v1 = n & 7; v1 < 8; v1++) {
				TURN(1);
				a[((v1 - n)) & 63] = 9;
				a[((c[(v1) & 63] ^ (2 ^ c[(v0) & 63]))) & 63] = ((v0 + 4) ^ (5 - x));
				b[(3) & 63] ^= x;
			}
			ENTER(2);
			for (int v2 = 0; v2 < (b[(b[(v0) & 63]) & 63] & 7); v2++) {
				TURN(2);
				b[(x) & 63] = x;
				b[(c[(b[(x) & 63]) & 63]) & 63] ^= n;
			}
			ENTER(3);
			for (int v3 = 0; v3 < n; v3++) {
				TURN(3);
				c[(b[(x) & 63]) & 63] += c[((a[(n) & 63] ^ 5)) & 63];
			}
		}
	}
	a[(b[((n * n)) & 63]) & 63] ^= x;
	return x;
}
static int h1(int x, int n)
{
	int m = n + 1;
	ENTER(4);
	for (int v4 = 0; v4 < 9; v4 += 3) {
		TURN(4);
		c[(b[((a[(x) & 63] * 1)) & 63]) & 63] -= x;
		int v5 = 0;
		ENTER(5);
		do {
			TURN(5);
			v5++;
			x += v4;
			if (v5 == b[(c[(x) & 63]) & 63])
				break;
			int v6 = n - 2;
			ENTER(6);
			while (v6-- > 0) {
				TURN(6);
				a[((9 + v5)) & 63] ^= 1;
			}
		} while (v5 < n);
	}
	x += h0(8, 4);
	return x;
}
static int h2(int x, int n)
{
	int m = n + 1;
	ENTER(7);
	for (int v7 = 0; v7 < 4; v7++) {
		TURN(7);
		switch (8 & 3) {
		case 0: c[x & 63]++; break;
		case 1: c[x & 63]++; break;
		case 2: a[v7 & 63]++; break;
		default: x++; }
		b[(v7) & 63] ^= n;
		x ^= ((v7 & 3) & (7 & x));
	}
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	x += h1(a[(x) & 63], n);
	h2((m ^ b[(n) & 63]), 4);
	int v8 = 0;
	ENTER(8);
	for (;;) {
		TURN(8);
		if (v8++ >= m + 1)
			break;
		a[(c[((7 * v8)) & 63]) & 63] = 3;
		c[(v8) & 63] = 8;
		if (4 > m) {
			switch ((b[(x) & 63] * v8) & 3) {
			case 0: c[m & 63]++; break;
			case 1: b[x & 63]++; break;
			default: x++; }
		}
	}
	int v9 = x & 63;
	ENTER(9);
	while (p[v9] != v9) {
		TURN(9);
		v9 = p[v9];
		ENTER(10);
		for (int v10 = 0; v10 < 7; v10 += 2) {
			TURN(10);
			if (((v9 * 9)) & 3) {
				ENTER(11);
				for (int v11 = 0; v11 < n - 2; v11++) {
					TURN(11);
					a[(n) & 63] ^= (a[(m) & 63] + (4 & 3));
					b[((n - (a[(x) & 63] + b[(m) & 63]))) & 63] ^= ((b[(v11) & 63] & 8) + c[(v9) & 63]);
				}
			}
			ENTER(12);
			for (int v12 = v9 & 7; v12 < 8; v12++) {
				TURN(12);
				if ((c[(8) & 63]) & 1) {
					c[(v12) & 63] += v9;
					c[(9) & 63] ^= v10;
				} else {
					b[((7 & 6)) & 63] -= v9;
				}
			}
			if (x == v9)
				break;
		}
		if ((c[(b[(x) & 63]) & 63]) & 1) {
			int v13 = 0;
			ENTER(13);
			for (;;) {
				TURN(13);
				if (v13++ >= (v9 & 7))
					break;
				if (((a[(m) & 63] & v9) ^ v9) != a[((4 & n)) & 63])
					continue;
				if (c[(x) & 63] == n) {
					c[(n) & 63] = a[(9) & 63];
				} else {
					c[(2) & 63] += 9;
				}
				x ^= (v13 * m);
			}
			x ^= (a[(x) & 63] + b[(n) & 63]);
		} else {
			b[(v9) & 63] += c[(a[(m) & 63]) & 63];
		}
		x ^= x;
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
