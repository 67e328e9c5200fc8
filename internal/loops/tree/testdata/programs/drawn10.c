#include "count.h"
static int a[64], b[64], c[64], p[64];
KERNEL int run(int n, int m)
{
	int x = n;
	if (7 == a[(n) & 63]) {
		c[((x & 6)) & 63] ^= (x * a[(n) & 63]);
		ENTER(0);
		for (int v0 = m; v0 > 0; v0--) {
			TURN(0);
			if ((v0) & 4)
				continue;
			c[(n) & 63] += (x ^ x);
		}
	}
	ENTER(1);
	for (int v1 = 0; v1 < 7; v1++) {
		TURN(1);
		int v2 = 2 & 63;
		ENTER(2);
		while (p[v2] != v2) {
			TURN(2);
			v2 = p[v2];
			switch (((5 * 0) & b[(m) & 63]) & 3) {
			case 0: a[m & 63]++; break;
			case 1: b[v1 & 63]++; break;
			default: x++; }
			switch (7 & 3) {
			case 0: c[v2 & 63]++; break;
			case 1: b[v2 & 63]++; break;
			default: x++; }
			if (v1 != v2) {
				if (v1 < (0 + 1))
					break;
				x += v1;
			}
		}
		ENTER(3);
		for (int v3 = 0; v3 < m + 1; v3++) {
			TURN(3);
			x += c[((c[(v1) & 63] + 3)) & 63];
		}
	}
	if ((a[(m) & 63]) & 1) {
		b[(m) & 63] -= (n - x);
		if ((b[((8 ^ 8)) & 63]) & 2) {
			switch (m & 3) {
			case 0: a[n & 63]++; break;
			case 1: c[n & 63]++; break;
			default: x++; }
			ENTER(4);
			for (int v4 = x & 7; v4 < 8; v4++) {
				TURN(4);
				b[(3) & 63] ^= 4;
				if (v4 == m)
					continue;
			}
		}
	}
	switch (m & 3) {
	case 0: c[n & 63]++; break;
	case 1: a[m & 63]++; break;
	case 2: b[m & 63]++; break;
	default: x++; }
	switch (c[((n * n)) & 63] & 3) {
	case 0: b[m & 63]++; break;
	case 1: a[x & 63]++; break;
	case 2: a[n & 63]++; break;
	default: x++; }
	a[(m) & 63] = (m ^ (5 + 5));
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
