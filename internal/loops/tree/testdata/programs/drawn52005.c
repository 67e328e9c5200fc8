#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	switch ((a[(n) & 63] * x) & 3) {
	case 0: b[n & 63]++; break;
	case 1: c[x & 63]++; break;
	default: x++; }
	c[(x) & 63] ^= c[(c[(x) & 63]) & 63];
	c[(c[(x) & 63]) & 63] ^= x;
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	if ((c[(n) & 63] - x) == (c[(m) & 63] * c[(m) & 63])) {
		a[(((b[(x) & 63] * a[(x) & 63]) ^ x)) & 63] -= x;
	} else {
		unsigned v0 = x & 255;
		ENTER(0);
		while (v0) {
			TURN(0);
			v0 >>= 1;
			ENTER(1);
			for (int v1 = v0 & 7; v1 < 8; v1++) {
				TURN(1);
				if (2 < (n * b[(v0) & 63])) {
					a[(m) & 63] ^= a[((1 + v0)) & 63];
				}
				ENTER(2);
				for (int v2 = m & 7; v2 < 8; v2++) {
					TURN(2);
					b[(9) & 63] -= c[(v0) & 63];
					a[(0) & 63] = (m * n);
				}
				ENTER(3);
				for (int v3 = 0; v3 < m; v3++) {
					TURN(3);
					b[(c[((v1 * x)) & 63]) & 63] = (m * x);
				}
			}
			b[(2) & 63] += (x + x);
		}
	}
	ENTER(4);
	for (int v4 = 0; v4 < 2; v4++) {
		TURN(4);
		if (((x - 4) - x) > ((b[(m) & 63] ^ c[(n) & 63]) ^ 1)) {
			x += h0(m, m);
			switch (v4 & 3) {
			case 0: b[x & 63]++; break;
			case 1: c[n & 63]++; break;
			default: x++; }
		} else {
			b[(c[(9) & 63]) & 63] += v4;
		}
		if ((4) & 2) {
			int v5 = 0;
			ENTER(5);
			do {
				TURN(5);
				v5++;
				ENTER(6);
				for (int v6 = n & 7; v6 < 8; v6++) {
					TURN(6);
					c[(8) & 63] -= x;
					c[(c[(2) & 63]) & 63] ^= v4;
				}
			} while (v5 < ((x + 9) & 7));
		} else {
			ENTER(7);
			for (int v7 = m; v7 > 0; v7--) {
				TURN(7);
				x += h0(v7, n);
			}
		}
	}
	a[(a[(a[(m) & 63]) & 63]) & 63] = c[(a[(m) & 63]) & 63];
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
