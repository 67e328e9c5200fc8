#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	switch (9 & 3) {
	case 0: c[x & 63]++; break;
	case 1: c[x & 63]++; break;
	case 2: b[n & 63]++; break;
	default: x++; }
	switch (n & 3) {
	case 0: b[x & 63]++; break;
	case 1: a[x & 63]++; break;
	case 2: c[n & 63]++; break;
	default: x++; }
	ENTER(0);
	for (int v0 = x & 7; v0 < 8; v0++) {
		TURN(0);
		if (((b[(n) & 63] & 2)) & 3) {
			b[(v0) & 63] -= ((6 & 9) ^ b[(v0) & 63]);
		}
		b[((a[(v0) & 63] * (5 + a[(v0) & 63]))) & 63] ^= x;
	}
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	int v1 = (n ^ (m + 9)) & 63;
	ENTER(1);
	while (p[v1] != v1) {
		TURN(1);
		v1 = p[v1];
		if ((n) & 1)
			continue;
		a[(a[((3 & x)) & 63]) & 63] ^= n;
	}
	int v2 = 0;
	ENTER(2);
	do {
		TURN(2);
		v2++;
		ENTER(3);
		for (int v3 = n & 7; v3 < 8; v3++) {
			TURN(3);
			if (m < ((v2 & a[(x) & 63]) * 5)) {
				ENTER(4);
				for (int v4 = 0; v4 < n - 2; v4++) {
					TURN(4);
					a[(m) & 63] ^= v2;
					a[((a[(m) & 63] & m)) & 63] += v4;
				}
				if ((m) & 3) {
					a[(n) & 63] -= x;
				} else {
					b[(((m * 1) & n)) & 63] -= m;
				}
			}
			x += h0(a[((x ^ 5)) & 63], 4);
		}
		if (((v2 & (a[(x) & 63] & 1))) & 2) {
			c[(a[((5 + x)) & 63]) & 63] += a[(c[(v2) & 63]) & 63];
		} else {
			ENTER(5);
			for (int v5 = 0; v5 < n; v5++) {
				TURN(5);
				a[(a[(m) & 63]) & 63] += (v5 ^ m);
				c[(b[(m) & 63]) & 63] = ((x + 0) + b[(m) & 63]);
			}
		}
		a[(6) & 63] ^= 3;
	} while (v2 < (8 & 7));
	int v6 = 0;
	ENTER(6);
	do {
		TURN(6);
		v6++;
		if (m != c[(0) & 63]) {
			c[(5) & 63] -= (0 - m);
			ENTER(7);
			for (int v7 = 0; v7 < n; v7++) {
				TURN(7);
				if (((v6 + (c[(v6) & 63] + c[(v7) & 63]))) & 1) {
					a[((x & v6)) & 63] += (x + (c[(m) & 63] & x));
				} else {
					c[(a[(x) & 63]) & 63] = c[(x) & 63];
				}
				a[(b[(b[(m) & 63]) & 63]) & 63] ^= b[(a[(v6) & 63]) & 63];
			}
		}
		int v8 = 0;
		ENTER(8);
		do {
			TURN(8);
			v8++;
			ENTER(9);
			for (int v9 = n & 7; v9 < 8; v9++) {
				TURN(9);
				if (b[(a[(n) & 63]) & 63] == (v8 * (5 * b[(v8) & 63]))) {
					b[(v6) & 63] -= v8;
					b[(2) & 63] -= (9 - 8);
				} else {
					a[((0 ^ (1 - 2))) & 63] += (v8 + (x * x));
				}
			}
			ENTER(10);
			for (int v10 = 0; v10 < n; v10++) {
				TURN(10);
				if ((x) & 3) {
					b[(v10) & 63] -= 8;
					b[(v6) & 63] = 8;
				}
				c[(5) & 63] -= v10;
			}
			switch (((m & a[(v6) & 63]) & 4) & 3) {
			case 0: c[n & 63]++; break;
			case 1: a[m & 63]++; break;
			default: x++; }
		} while (v8 < n - 2);
		ENTER(11);
		for (int v11 = v6 & 7; v11 < 8; v11++) {
			TURN(11);
			x += 4;
			ENTER(12);
			for (int v12 = 0; v12 < 2; v12++) {
				TURN(12);
				b[(n) & 63] = 4;
			}
			c[(5) & 63] -= 1;
		}
	} while (v6 < m + 1);
	x += m;
	a[(c[(m) & 63]) & 63] += c[(c[(x) & 63]) & 63];
	h0((a[(m) & 63] - n), m);
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
