#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	ENTER(0);
	for (int v0 = 0; v0 < m; v0 += 3) {
		TURN(0);
		switch (4 & 3) {
		case 0: c[n & 63]++; break;
		case 1: b[n & 63]++; break;
		default: x++; }
		x ^= (1 & 3);
		if (b[(c[(x) & 63]) & 63] < b[((3 ^ 2)) & 63])
			continue;
	}
	return x;
}
static int h1(int x, int n)
{
	int m = n + 1;
	ENTER(1);
	for (int v1 = 0; v1 < m + 1; v1 += 3) {
		TURN(1);
		ENTER(2);
		for (int v2 = 0; v2 < m; v2++) {
			TURN(2);
			a[((8 + b[(v2) & 63])) & 63] += c[(x) & 63];
		}
		switch (v1 & 3) {
		case 0: a[x & 63]++; break;
		case 1: a[v1 & 63]++; break;
		case 2: c[x & 63]++; break;
		default: x++; }
	}
	if (((n & (x ^ b[(x) & 63]))) & 3) {
		if (((n ^ x) + n) == a[(b[(x) & 63]) & 63]) {
			x ^= x;
		}
		b[(n) & 63] -= 6;
	} else {
		c[(c[((c[(n) & 63] - a[(n) & 63])) & 63]) & 63] = c[(x) & 63];
	}
	if (a[(n) & 63] < 9) {
		if (n < a[(a[(n) & 63]) & 63]) {
			ENTER(3);
			for (int v3 = 0; v3 < m + 1; v3 += 3) {
				TURN(3);
				a[(9) & 63] += a[(b[(x) & 63]) & 63];
				c[(a[((4 + 1)) & 63]) & 63] ^= x;
			}
			c[((n ^ (a[(n) & 63] ^ 2))) & 63] -= x;
		}
	} else {
		b[(3) & 63] ^= c[(x) & 63];
	}
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	x += h1(a[(c[(n) & 63]) & 63], n);
	ENTER(4);
	for (int v4 = 0; v4 < 9; v4 += 3) {
		TURN(4);
		switch (1 & 3) {
		case 0: c[x & 63]++; break;
		case 1: c[x & 63]++; break;
		case 2: a[n & 63]++; break;
		default: x++; }
		int v5 = 0;
		ENTER(5);
		for (;;) {
			TURN(5);
			if (v5++ >= n)
				break;
			b[((3 + 0)) & 63] -= n;
			a[(7) & 63] -= v5;
			if ((x) & 2)
				break;
		}
		ENTER(6);
		for (int v6 = 0; v6 < ((v4 * (1 + v4)) & 7); v6 += 3) {
			TURN(6);
			if ((a[(v6) & 63]) & 1) {
				c[(9) & 63] ^= m;
			} else {
				x += v6;
			}
		}
	}
	ENTER(7);
	for (int v7 = 0; v7 < n - 2; v7++) {
		TURN(7);
		if (n < 0) {
			switch ((b[(v7) & 63] * (5 ^ 2)) & 3) {
			case 0: a[m & 63]++; break;
			case 1: a[m & 63]++; break;
			case 2: c[x & 63]++; break;
			default: x++; }
		}
		ENTER(8);
		for (int v8 = 0; v8 < n; v8++) {
			TURN(8);
			ENTER(9);
			for (int v9 = n - 2; v9 > 0; v9--) {
				TURN(9);
				int v10 = 0;
				ENTER(10);
				for (;;) {
					TURN(10);
					if (v10++ >= (5 & 7))
						break;
					a[(a[(m) & 63]) & 63] -= (v8 - v10);
					b[(((v7 - a[(n) & 63]) & v7)) & 63] ^= 6;
					b[(v9) & 63] -= v8;
				}
				b[(b[(a[(v8) & 63]) & 63]) & 63] += a[(b[(v8) & 63]) & 63];
			}
			int v11 = n & 63;
			ENTER(11);
			while (p[v11] != v11) {
				TURN(11);
				v11 = p[v11];
				if ((6) & 1) {
					b[(a[(n) & 63]) & 63] = 6;
					c[(0) & 63] -= (c[(n) & 63] * (c[(v8) & 63] - n));
				}
			}
			a[((x & x)) & 63] = 6;
		}
		ENTER(12);
		for (int v12 = 0; v12 < m; v12 += 3) {
			TURN(12);
			ENTER(13);
			for (int v13 = 0; v13 < 8; v13++) {
				TURN(13);
				c[(v7) & 63] ^= v7;
			}
			x ^= v7;
		}
	}
	h0(9, 4);
	if ((n) & 2) {
		x ^= b[((b[(m) & 63] - x)) & 63];
		x ^= (b[(x) & 63] + (x + 2));
	} else {
		h0(1, n);
	}
	c[(6) & 63] += (m * c[(x) & 63]);
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
