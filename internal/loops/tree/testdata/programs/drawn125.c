#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	int v0 = 0;
	ENTER(0);
	for (;;) {
		TURN(0);
		if (v0++ >= 5)
			break;
		switch (v0 & 3) {
		case 0: b[v0 & 63]++; break;
		case 1: c[n & 63]++; break;
		default: x++; }
		switch ((n - (1 * c[(v0) & 63])) & 3) {
		case 0: a[v0 & 63]++; break;
		case 1: c[v0 & 63]++; break;
		case 2: c[x & 63]++; break;
		default: x++; }
		ENTER(1);
		for (int v1 = 0; v1 < n; v1++) {
			TURN(1);
			if (9 < (6 - (8 - c[(v1) & 63]))) {
				c[(c[((c[(v0) & 63] & 1)) & 63]) & 63] = 2;
			}
			int v2 = 1 & 63;
			ENTER(2);
			while (p[v2] != v2) {
				TURN(2);
				v2 = p[v2];
				a[(a[(9) & 63]) & 63] += v0;
			}
		}
	}
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	unsigned v3 = 8 & 255;
	ENTER(3);
	while (v3) {
		TURN(3);
		v3 >>= 1;
		int v4 = n - 2;
		ENTER(4);
		while (v4-- > 0) {
			TURN(4);
			if (v3 > 2)
				break;
		}
		int v5 = 8 & 63;
		ENTER(5);
		while (p[v5] != v5) {
			TURN(5);
			v5 = p[v5];
			ENTER(6);
			for (int v6 = 0; v6 < n - 2; v6++) {
				TURN(6);
				b[(3) & 63] -= c[(n) & 63];
				b[(m) & 63] -= ((7 & 3) + 7);
				if (a[(x) & 63] <= c[(0) & 63])
					continue;
			}
		}
		b[((m + v3)) & 63] -= a[(n) & 63];
	}
	switch ((m - 0) & 3) {
	case 0: a[x & 63]++; break;
	case 1: c[m & 63]++; break;
	default: x++; }
	b[(m) & 63] += x;
	h0(m, 4);
	ENTER(7);
	for (int v7 = x & 7; v7 < 8; v7++) {
		TURN(7);
		if ((x) & 1)
			continue;
		int v8 = 0;
		ENTER(8);
		for (;;) {
			TURN(8);
			if (v8++ >= m)
				break;
			ENTER(9);
			for (int v9 = x & 7; v9 < 8; v9++) {
				TURN(9);
				ENTER(10);
				for (int v10 = 0; v10 < n; v10++) {
					TURN(10);
					c[(((3 * m) ^ 6)) & 63] += 8;
				}
			}
			c[(v7) & 63] += ((n + 1) + 8);
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
