#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	a[(a[(c[(x) & 63]) & 63]) & 63] ^= x;
	switch (x & 3) {
	case 0: b[n & 63]++; break;
	case 1: a[n & 63]++; break;
	case 2: c[x & 63]++; break;
	default: x++; }
	ENTER(0);
	for (int v0 = 0; v0 < (x & 7); v0++) {
		TURN(0);
		b[(x) & 63] ^= 1;
		ENTER(1);
		for (int v1 = n & 7; v1 < 8; v1++) {
			TURN(1);
			switch ((x - v1) & 3) {
			case 0: c[v0 & 63]++; break;
			case 1: a[x & 63]++; break;
			default: x++; }
			if (v0 > c[((2 * 7)) & 63])
				break;
		}
	}
	return x;
}
static int h1(int x, int n)
{
	int m = n + 1;
	if ((n) & 1) {
		ENTER(2);
		for (int v2 = x & 7; v2 < 8; v2++) {
			TURN(2);
			ENTER(3);
			for (int v3 = 0; v3 < m; v3++) {
				TURN(3);
				a[(n) & 63] -= 9;
				b[(n) & 63] ^= n;
			}
			x += h0(n, 4);
			x = v2;
		}
		h0((c[(n) & 63] & x), 4);
	}
	return x;
}
static int h2(int x, int n)
{
	int m = n + 1;
	a[(n) & 63] ^= a[((0 & 5)) & 63];
	int v4 = (n & 7);
	ENTER(4);
	while (v4-- > 0) {
		TURN(4);
		if ((x) & 3)
			continue;
		b[((v4 + (b[(v4) & 63] & a[(n) & 63]))) & 63] -= 8;
	}
	a[(b[(x) & 63]) & 63] -= 9;
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	ENTER(5);
	for (int v5 = 0; v5 < n; v5++) {
		TURN(5);
		ENTER(6);
		for (int v6 = m; v6 > 0; v6--) {
			TURN(6);
			x += b[(x) & 63];
			ENTER(7);
			for (int v7 = v6 & 7; v7 < 8; v7++) {
				TURN(7);
				b[(7) & 63] ^= ((b[(v7) & 63] + b[(v7) & 63]) - v6);
			}
		}
		int v8 = (2 ^ v5) & 63;
		ENTER(8);
		while (p[v8] != v8) {
			TURN(8);
			v8 = p[v8];
			c[(b[(b[(n) & 63]) & 63]) & 63] = (1 + (m + v5));
			int v9 = m;
			ENTER(9);
			while (v9-- > 0) {
				TURN(9);
				if (x != m)
					continue;
				if (v9 <= x)
					continue;
				c[(c[((3 & c[(v9) & 63])) & 63]) & 63] = v5;
			}
		}
	}
	b[(x) & 63] = x;
	x = (c[(n) & 63] - n);
	ENTER(10);
	for (int v10 = n & 7; v10 < 8; v10++) {
		TURN(10);
		unsigned v11 = 8 & 255;
		ENTER(11);
		while (v11) {
			TURN(11);
			v11 >>= 1;
			if ((n) & 4) {
				x += h1(c[(m) & 63], 4);
				x += h0(a[((m * 5)) & 63], n);
			}
			h0((v10 ^ (v10 ^ 1)), m);
		}
		int v12 = v10 & 63;
		ENTER(12);
		while (p[v12] != v12) {
			TURN(12);
			v12 = p[v12];
			c[(((x ^ v12) + (x + 4))) & 63] ^= v10;
		}
		switch ((v10 & n) & 3) {
		case 0: c[m & 63]++; break;
		case 1: a[x & 63]++; break;
		case 2: b[n & 63]++; break;
		default: x++; }
	}
	ENTER(13);
	for (int v13 = m & 7; v13 < 8; v13++) {
		TURN(13);
		switch ((n - c[(m) & 63]) & 3) {
		case 0: b[n & 63]++; break;
		case 1: a[n & 63]++; break;
		case 2: a[n & 63]++; break;
		default: x++; }
		a[(7) & 63] ^= x;
		b[(a[(m) & 63]) & 63] = (v13 - n);
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
