#include "count.h"
static int a[64], b[64], c[64], p[64];
KERNEL int run(int n, int m)
{
	int x = n;
	unsigned v0 = c[(5) & 63] & 255;
	ENTER(0);
	while (v0) {
		TURN(0);
		v0 >>= 1;
		a[((m + (c[(x) & 63] + b[(x) & 63]))) & 63] += a[((v0 ^ 6)) & 63];
		switch (m & 3) {
		case 0: c[n & 63]++; break;
		case 1: a[m & 63]++; break;
		case 2: b[m & 63]++; break;
		default: x++; }
		switch (v0 & 3) {
		case 0: a[v0 & 63]++; break;
		case 1: c[n & 63]++; break;
		case 2: a[n & 63]++; break;
		default: x++; }
	}
	int v1 = a[(b[(m) & 63]) & 63] & 63;
	ENTER(1);
	while (p[v1] != v1) {
		TURN(1);
		v1 = p[v1];
		int v2 = m;
		ENTER(2);
		while (v2-- > 0) {
			TURN(2);
			c[(m) & 63] -= x;
			b[(((1 - 9) ^ (0 - b[(v1) & 63]))) & 63] += v2;
		}
		c[(a[(1) & 63]) & 63] -= (n + a[(x) & 63]);
		if (x > 9) {
			unsigned v3 = 6 & 255;
			ENTER(3);
			while (v3) {
				TURN(3);
				v3 >>= 1;
				switch (n & 3) {
				case 0: a[x & 63]++; break;
				case 1: c[v1 & 63]++; break;
				default: x++; }
			}
		}
	}
	ENTER(4);
	for (int v4 = 0; v4 < n; v4++) {
		TURN(4);
		if (b[((v4 * b[(n) & 63])) & 63] < c[((3 ^ a[(m) & 63])) & 63]) {
			b[(x) & 63] = m;
		} else {
			c[((v4 - a[(m) & 63])) & 63] -= (n & (2 + 1));
		}
		int v5 = 0;
		ENTER(5);
		for (;;) {
			TURN(5);
			if (v5++ >= m)
				break;
			ENTER(6);
			for (int v6 = m & 7; v6 < 8; v6++) {
				TURN(6);
				if (b[(m) & 63] > x)
					continue;
				if (((4 * v4) * x) > x) {
					a[(a[(1) & 63]) & 63] -= (c[(x) & 63] * a[(v6) & 63]);
					c[(2) & 63] -= (v5 ^ (b[(v4) & 63] ^ c[(n) & 63]));
				} else {
					a[(5) & 63] = n;
				}
				b[((1 ^ v6)) & 63] -= 2;
			}
			if ((c[(1) & 63]) & 3)
				break;
			switch (c[(m) & 63] & 3) {
			case 0: c[m & 63]++; break;
			case 1: a[v5 & 63]++; break;
			case 2: c[m & 63]++; break;
			default: x++; }
		}
	}
	ENTER(7);
	for (int v7 = x & 7; v7 < 8; v7++) {
		TURN(7);
		switch (1 & 3) {
		case 0: b[v7 & 63]++; break;
		case 1: c[x & 63]++; break;
		case 2: b[x & 63]++; break;
		default: x++; }
		if ((v7) & 1)
			continue;
	}
	a[(x) & 63] = (b[(x) & 63] & (x * m));
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
