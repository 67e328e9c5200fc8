#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	c[(a[((1 & c[(n) & 63])) & 63]) & 63] += (3 + a[(x) & 63]);
	c[(6) & 63] ^= x;
	c[(x) & 63] = b[(c[(n) & 63]) & 63];
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	int v0 = 0;
	ENTER(0);
	do {
		TURN(0);
		v0++;
		if ((v0) & 2)
			continue;
	} while (v0 < n);
	h0(x, m);
	int v1 = 0;
	ENTER(1);
	for (;;) {
		TURN(1);
		if (v1++ >= m + 1)
			break;
		ENTER(2);
		for (int v2 = 0; v2 < 5; v2++) {
			TURN(2);
			if (x > c[(v2) & 63]) {
				a[((x ^ v1)) & 63] += n;
				ENTER(3);
				for (int v3 = 0; v3 < m; v3++) {
					TURN(3);
					a[(v2) & 63] -= 5;
					c[((n + v1)) & 63] += n;
				}
			} else {
				if (0 <= (a[(x) & 63] - x)) {
					a[(v2) & 63] += ((1 ^ 1) ^ a[(m) & 63]);
				} else {
					a[(v1) & 63] += b[((b[(m) & 63] * 3)) & 63];
				}
			}
			int v4 = 0;
			ENTER(4);
			for (;;) {
				TURN(4);
				if (v4++ >= n - 2)
					break;
				if (c[(a[(v1) & 63]) & 63] == x)
					continue;
				a[((c[(v2) & 63] & (1 - 1))) & 63] ^= v1;
			}
			if ((((v2 * 4) + 7)) & 2) {
				a[(v2) & 63] += (b[(n) & 63] ^ (c[(v1) & 63] + 4));
				b[(b[(x) & 63]) & 63] ^= n;
			}
		}
	}
	ENTER(5);
	for (int v5 = m + 1; v5 > 0; v5--) {
		TURN(5);
		h0((b[(v5) & 63] & n), 4);
	}
	c[(a[(b[(n) & 63]) & 63]) & 63] = 8;
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
