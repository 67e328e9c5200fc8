#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	b[(8) & 63] ^= x;
	return x;
}
static int h1(int x, int n)
{
	int m = n + 1;
	if (0 < n) {
		c[(b[((x & 2)) & 63]) & 63] += (5 & n);
		x += h0(c[((a[(x) & 63] - c[(x) & 63])) & 63], 4);
	} else {
		a[(c[(n) & 63]) & 63] = 4;
	}
	x += h0(x, 4);
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	int v0 = b[(x) & 63] & 63;
	ENTER(0);
	while (p[v0] != v0) {
		TURN(0);
		v0 = p[v0];
		x += h0(n, 4);
	}
	a[(((b[(m) & 63] + n) ^ x)) & 63] ^= 3;
	int v1 = a[(c[(x) & 63]) & 63] & 63;
	ENTER(1);
	while (p[v1] != v1) {
		TURN(1);
		v1 = p[v1];
		a[((5 ^ (4 + c[(n) & 63]))) & 63] ^= 4;
		unsigned v2 = n & 255;
		ENTER(2);
		while (v2) {
			TURN(2);
			v2 >>= 1;
			int v3 = 0;
			ENTER(3);
			do {
				TURN(3);
				v3++;
				ENTER(4);
				for (int v4 = 0; v4 < m + 1; v4++) {
					TURN(4);
					b[(a[(4) & 63]) & 63] -= c[(a[(v2) & 63]) & 63];
				}
				if ((x ^ 0) != b[(b[(m) & 63]) & 63])
					continue;
				b[(x) & 63] -= (c[(m) & 63] & x);
			} while (v3 < 4);
			if (((m + a[(m) & 63])) & 4) {
				ENTER(5);
				for (int v5 = 0; v5 < m + 1; v5 += 3) {
					TURN(5);
					a[(m) & 63] += a[(v2) & 63];
				}
			} else {
				switch (x & 3) {
				case 0: a[x & 63]++; break;
				case 1: c[n & 63]++; break;
				default: x++; }
			}
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
