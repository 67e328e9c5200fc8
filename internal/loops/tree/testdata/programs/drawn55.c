#include "count.h"
static int a[64], b[64], c[64], p[64];
KERNEL int run(int n, int m)
{
	int x = n;
	c[(x) & 63] += n;
	ENTER(0);
	for (int v0 = m & 7; v0 < 8; v0++) {
		TURN(0);
		b[(n) & 63] = a[(n) & 63];
		c[(a[(n) & 63]) & 63] -= m;
		ENTER(1);
		for (int v1 = 0; v1 < n - 2; v1++) {
			TURN(1);
			a[((v1 - 4)) & 63] += (b[(v1) & 63] & b[(x) & 63]);
		}
	}
	c[(b[(x) & 63]) & 63] = b[(1) & 63];
	if (x != b[(c[(n) & 63]) & 63]) {
		ENTER(2);
		for (int v2 = n & 7; v2 < 8; v2++) {
			TURN(2);
			if ((n) & 2) {
				int v3 = n - 2;
				ENTER(3);
				while (v3-- > 0) {
					TURN(3);
					b[(n) & 63] -= (4 - (n ^ 4));
				}
			}
			int v4 = 0;
			ENTER(4);
			do {
				TURN(4);
				v4++;
				x = 5;
				a[(0) & 63] = (c[(m) & 63] * v4);
			} while (v4 < n);
			c[(c[(v2) & 63]) & 63] = v2;
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
