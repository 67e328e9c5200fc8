#include "count.h"
static int a[64], b[64], c[64], p[64];
KERNEL int run(int n, int m)
{
	int x = n;
	ENTER(0);
	for (int v0 = m + 1; v0 > 0; v0--) {
		TURN(0);
		ENTER(1);
		for (int v1 = 0; v1 < m; v1++) {
			TURN(1);
			if (v1 != v1)
				continue;
		}
		ENTER(2);
		for (int v2 = 0; v2 < 3; v2++) {
			TURN(2);
			a[(5) & 63] ^= (c[(x) & 63] ^ m);
		}
		int v3 = 0;
		ENTER(3);
		for (;;) {
			TURN(3);
			if (v3++ >= 6)
				break;
			ENTER(4);
			for (int v4 = 0; v4 < m; v4++) {
				TURN(4);
				x = v4;
				switch (a[(a[(n) & 63]) & 63] & 3) {
				case 0: b[m & 63]++; break;
				case 1: c[v4 & 63]++; break;
				case 2: c[n & 63]++; break;
				default: x++; }
			}
		}
	}
	ENTER(5);
	for (int v5 = 0; v5 < (((1 - 5) * n) & 7); v5++) {
		TURN(5);
		if (m <= 9) {
			if ((v5) & 1) {
				ENTER(6);
				for (int v6 = 0; v6 < n - 2; v6++) {
					TURN(6);
					a[(a[(c[(m) & 63]) & 63]) & 63] ^= v5;
					a[(((v6 - a[(m) & 63]) & a[(m) & 63])) & 63] += c[((b[(x) & 63] + 3)) & 63];
				}
			} else {
				c[((v5 + (a[(n) & 63] ^ 2))) & 63] ^= c[(3) & 63];
			}
			ENTER(7);
			for (int v7 = (5 & 7); v7 > 0; v7--) {
				TURN(7);
				if (x <= c[(x) & 63]) {
					a[((n * a[(v7) & 63])) & 63] += c[(a[(v5) & 63]) & 63];
				}
				a[(b[(7) & 63]) & 63] = c[(v5) & 63];
				ENTER(8);
				for (int v8 = 0; v8 < (v7 & 7); v8++) {
					TURN(8);
					b[(1) & 63] -= ((v8 & 1) - v5);
				}
			}
		}
		ENTER(9);
		for (int v9 = 0; v9 < 3; v9++) {
			TURN(9);
			c[(((c[(v5) & 63] - n) + c[(x) & 63])) & 63] ^= v9;
			if ((a[((n + c[(n) & 63])) & 63]) & 4) {
				int v10 = 0;
				ENTER(10);
				for (;;) {
					TURN(10);
					if (v10++ >= n - 2)
						break;
					b[(v10) & 63] ^= v5;
					c[(m) & 63] = v9;
					a[(n) & 63] ^= m;
				}
			}
		}
		int v11 = n - 2;
		ENTER(11);
		while (v11-- > 0) {
			TURN(11);
			if ((c[(n) & 63]) & 3)
				break;
			unsigned v12 = a[(b[(v11) & 63]) & 63] & 255;
			ENTER(12);
			while (v12) {
				TURN(12);
				v12 >>= 1;
				a[(v5) & 63] ^= m;
				ENTER(13);
				for (int v13 = v12 & 7; v13 < 8; v13++) {
					TURN(13);
					a[(v12) & 63] += b[(a[(v5) & 63]) & 63];
					b[(0) & 63] ^= n;
				}
			}
			switch (8 & 3) {
			case 0: c[n & 63]++; break;
			case 1: a[n & 63]++; break;
			case 2: a[v5 & 63]++; break;
			default: x++; }
		}
	}
	c[(((3 * m) + 0)) & 63] -= n;
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
