#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	if ((c[(x) & 63]) & 1) {
		ENTER(0);
		for (int v0 = 0; v0 < m; v0 += 3) {
			TURN(0);
			switch ((n & n) & 3) {
			case 0: c[v0 & 63]++; break;
			case 1: a[x & 63]++; break;
			default: x++; }
			b[(v0) & 63] += x;
		}
	}
	b[(((9 & 1) & n)) & 63] ^= b[(b[(n) & 63]) & 63];
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	ENTER(1);
	for (int v1 = 0; v1 < m + 1; v1++) {
		TURN(1);
		unsigned v2 = a[(c[(m) & 63]) & 63] & 255;
		ENTER(2);
		while (v2) {
			TURN(2);
			v2 >>= 1;
			if ((8) & 1) {
				c[((2 & (c[(x) & 63] ^ v1))) & 63] = ((x - x) + v1);
			} else {
				if (c[(v2) & 63] == 3) {
					c[(v1) & 63] ^= (n + 4);
					b[(x) & 63] ^= x;
				}
			}
			c[(c[(x) & 63]) & 63] ^= v1;
		}
		a[((m & x)) & 63] = c[(6) & 63];
	}
	if (x <= (b[(x) & 63] ^ a[(n) & 63])) {
		switch (x & 3) {
		case 0: a[n & 63]++; break;
		case 1: b[n & 63]++; break;
		default: x++; }
	}
	ENTER(3);
	for (int v3 = 0; v3 < (n & 7); v3++) {
		TURN(3);
		x += h0(b[(a[(n) & 63]) & 63], n);
	}
	unsigned v4 = c[((n * n)) & 63] & 255;
	ENTER(4);
	while (v4) {
		TURN(4);
		v4 >>= 1;
		b[(x) & 63] += c[(v4) & 63];
		h0(7, n);
	}
	if ((c[(a[(m) & 63]) & 63]) & 1) {
		c[(b[((x * 1)) & 63]) & 63] ^= n;
	}
	int v5 = 0;
	ENTER(5);
	for (;;) {
		TURN(5);
		if (v5++ >= 4)
			break;
		int v6 = 0;
		ENTER(6);
		for (;;) {
			TURN(6);
			if (v6++ >= m)
				break;
			a[(v6) & 63] += 9;
			ENTER(7);
			for (int v7 = 0; v7 < n; v7++) {
				TURN(7);
				if (3 != m) {
					b[(6) & 63] ^= v7;
					c[(v7) & 63] -= m;
				} else {
					b[(8) & 63] += 0;
				}
			}
			if (v6 < (4 & 9)) {
				if (n > v5)
					continue;
				if ((c[(x) & 63]) & 2) {
					b[((m ^ c[(m) & 63])) & 63] -= m;
				}
			}
		}
		if ((b[(n) & 63]) & 4)
			continue;
		b[((c[(x) & 63] * b[(m) & 63])) & 63] = 4;
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
