#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	a[(((1 ^ 3) + a[(x) & 63])) & 63] ^= x;
	unsigned v0 = x & 255;
	ENTER(0);
	while (v0) {
		TURN(0);
		v0 >>= 1;
		c[(6) & 63] += x;
		switch (b[(x) & 63] & 3) {
		case 0: a[x & 63]++; break;
		case 1: b[n & 63]++; break;
		case 2: b[x & 63]++; break;
		default: x++; }
		if ((7) & 3)
			break;
	}
	if (n < (c[(n) & 63] ^ (4 & 3))) {
		c[(n) & 63] ^= x;
		int v1 = n;
		ENTER(1);
		while (v1-- > 0) {
			TURN(1);
			switch (v1 & 3) {
			case 0: a[n & 63]++; break;
			case 1: a[v1 & 63]++; break;
			default: x++; }
			a[((a[(n) & 63] - 2)) & 63] ^= b[((n * a[(n) & 63])) & 63];
			int v2 = (c[(n) & 63] - n) & 63;
			ENTER(2);
			while (p[v2] != v2) {
				TURN(2);
				v2 = p[v2];
				b[((v2 ^ v1)) & 63] -= c[(a[(n) & 63]) & 63];
				c[(c[(x) & 63]) & 63] = (8 * v1);
			}
		}
	}
	return x;
}
static int h1(int x, int n)
{
	int m = n + 1;
	x = n;
	ENTER(3);
	for (int v3 = 0; v3 < (x & 7); v3++) {
		TURN(3);
		if (c[((a[(v3) & 63] * 4)) & 63] <= n) {
			b[(b[(a[(x) & 63]) & 63]) & 63] -= x;
			x += (3 - v3);
		}
		c[((n - n)) & 63] ^= ((5 * b[(v3) & 63]) & b[(n) & 63]);
		if (a[(n) & 63] != (x & 4)) {
			b[(n) & 63] ^= c[(n) & 63];
		} else {
			if ((c[(x) & 63]) & 4) {
				c[(x) & 63] = 4;
			} else {
				c[(v3) & 63] ^= n;
			}
		}
	}
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	a[((c[(x) & 63] & (m * x))) & 63] ^= n;
	ENTER(4);
	for (int v4 = 0; v4 < n; v4 += 2) {
		TURN(4);
		c[(x) & 63] += a[(b[(v4) & 63]) & 63];
		int v5 = 0;
		ENTER(5);
		do {
			TURN(5);
			v5++;
			ENTER(6);
			for (int v6 = n & 7; v6 < 8; v6++) {
				TURN(6);
				c[(a[((5 - 2)) & 63]) & 63] += (5 + 1);
			}
			if ((v4) & 3) {
				b[(5) & 63] ^= v4;
			}
		} while (v5 < m + 1);
	}
	h0(n, 4);
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
