#include "count.h"
#define EACH(v, l) for (int v = 0; v < (l); v++)
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	b[(n) & 63] = n;
	switch (n & 3) {
	case 0: c[n & 63]++; break;
	case 1: b[x & 63]++; /* goes on */
	default: x++; }
	switch (x & 3) {
	case 0: c[x & 63]++; break;
	case 1: c[x & 63]++; break;
	default: x++; }
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	b[(5) & 63] += c[((3 + x)) & 63];
	if (((n * c[(x) & 63])) & 2) {
		if ((1) & 4) {
			b[((m * 0)) & 63] = c[(m) & 63];
			h0(n, 4);
		}
	} else {
		b[((m & (1 * n))) & 63] = 7;
	}
	ENTER(0);
	for (unsigned char v0 = 0; v0 != (unsigned char)(n & 31); v0++) {
		TURN(0);
		ENTER(1);
		for (int v1 = 0; v1 < n - 2; v1++) {
			TURN(1);
			unsigned v2 = (n - x) & 255;
			ENTER(2);
			while (v2) {
				TURN(2);
				v2 >>= 1;
				x += h0(8, m);
			}
		}
		c[(m) & 63] += x;
		ENTER(3);
		for (long v3 = 1; v3 < m + 1 * 8; v3 *= 2) {
			TURN(3);
			if ((5) & 4) {
				b[(a[(7) & 63]) & 63] += ((b[(v0) & 63] * b[(m) & 63]) + v0);
			} else {
				ENTER(4);
				for (unsigned char v4 = 0; v4 != (unsigned char)(n - 2 & 31); v4++) {
					TURN(4);
					c[(m) & 63] += v3;
				}
			}
			ENTER(5);
			for (int v5 = 0, w5 = 9; v5 < w5; v5++, w5--) {
				TURN(5);
				x += 7;
				if ((v0 - 2) == (0 * v0))
					goto out0;
			}
		}
	}
	out0: ;
	ENTER(6);
	EACH(v6, 9) {
		TURN(6);
		if (x != c[(x) & 63]) {
			b[((v6 * n)) & 63] = v6;
		}
		x += b[((m * n)) & 63];
	}
	a[(x) & 63] = m;
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
