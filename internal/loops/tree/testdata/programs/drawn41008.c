#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	ENTER(0);
	for (int v0 = 0; v0 < m + 1; v0++) {
		TURN(0);
		if (4 < n) {
			if (a[((v0 * 4)) & 63] > n)
				continue;
		}
		if (((x & 7)) & 4)
			continue;
	}
	ENTER(1);
	for (int v1 = 0; v1 < m + 1; v1++) {
		TURN(1);
		switch (b[(n) & 63] & 3) {
		case 0: c[v1 & 63]++; break;
		case 1: b[x & 63]++; break;
		default: x++; }
	}
	return x;
}
static int h1(int x, int n)
{
	int m = n + 1;
	ENTER(2);
	for (int v2 = 0; v2 < m + 1; v2++) {
		TURN(2);
		x += h0(6, m);
		if (0 > (a[(v2) & 63] * 9))
			continue;
		ENTER(3);
		for (int v3 = m + 1; v3 > 0; v3--) {
			TURN(3);
			if (((v3 + x) & (3 * v2)) > v3)
				continue;
		}
	}
	h0(b[((c[(n) & 63] - 4)) & 63], n);
	return x;
}
static int h2(int x, int n)
{
	int m = n + 1;
	ENTER(4);
	for (int v4 = 0; v4 < (x & 7); v4++) {
		TURN(4);
		a[((a[(n) & 63] ^ (4 ^ 1))) & 63] ^= 1;
	}
	ENTER(5);
	for (int v5 = 0; v5 < 3; v5++) {
		TURN(5);
		ENTER(6);
		for (int v6 = 0; v6 < 4; v6++) {
			TURN(6);
			h0((x + v6), n);
		}
		if (((a[(x) & 63] * 1) * x) > 6) {
			x ^= ((3 & x) ^ n);
		}
	}
	ENTER(7);
	for (int v7 = 0; v7 < (n & 7); v7 += 2) {
		TURN(7);
		b[(5) & 63] ^= a[((x & x)) & 63];
		b[(n) & 63] ^= b[(3) & 63];
	}
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	h2((x - b[(x) & 63]), m);
	int v8 = (c[((x - x)) & 63] & 7);
	ENTER(8);
	while (v8-- > 0) {
		TURN(8);
		x ^= ((v8 & c[(m) & 63]) + 6);
	}
	ENTER(9);
	for (int v9 = 0; v9 < n - 2; v9++) {
		TURN(9);
		ENTER(10);
		for (int v10 = 0; v10 < 2; v10 += 3) {
			TURN(10);
			c[(v9) & 63] -= v9;
		}
	}
	a[(8) & 63] += a[(a[(n) & 63]) & 63];
	if (((1 + c[(n) & 63]) + m) == ((1 - b[(x) & 63]) + n)) {
		a[(1) & 63] -= x;
	} else {
		switch (b[(2) & 63] & 3) {
		case 0: b[m & 63]++; break;
		case 1: c[x & 63]++; break;
		default: x++; }
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
