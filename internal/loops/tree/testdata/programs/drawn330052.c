#include "count.h"
static int a[64], b[64], c[64], p[64];
KERNEL int run(int n, int m)
{
	int x = n;
	unsigned v10 = c[(2) & 63] & 255;
	ENTER(10);
	while (v10) {
		TURN(10);
		v10 >>= 1;
		a[((c[(v10) & 63] & m)) & 63] -= 2;
		ENTER(11);
		for (int v11 = n & 7; v11 < 8; v11++) {
			TURN(11);
			int v12 = 0;
			ENTER(12);
			do {
				TURN(12);
				v12++;
				b[(4) & 63] ^= x;
			} while (v12 < n - 2);
		}
		b[((6 - c[(m) & 63])) & 63] -= a[(a[(m) & 63]) & 63];
	}
	switch (3 & 3) {
	case 0: b[x & 63]++; break;
	case 1: a[x & 63]++; break;
	case 2: c[n & 63]++; break;
	default: x++; }
	unsigned v13 = m & 255;
	ENTER(13);
	while (v13) {
		TURN(13);
		v13 >>= 1;
		if ((n) & 3)
			continue;
		switch (b[(2) & 63] & 3) {
		case 0: c[v13 & 63]++; break;
		case 1: a[m & 63]++; break;
		default: x++; }
	}
	switch (a[(m) & 63] & 3) {
	case 0: a[x & 63]++; break;
	case 1: b[x & 63]++; break;
	case 2: a[n & 63]++; break;
	default: x++; }
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
