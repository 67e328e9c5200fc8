#include "count.h"
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	ENTER(0);
	for (int v0 = 0; v0 < n; v0++) {
		TURN(0);
		if ((b[(9) & 63]) & 2) {
			if ((4) & 2)
				continue;
		} else {
			int v1 = c[(n) & 63] & 63;
			ENTER(1);
			while (p[v1] != v1) {
				TURN(1);
				v1 = p[v1];
				c[((c[(v1) & 63] - a[(x) & 63])) & 63] = 0;
			}
		}
	}
	x += n;
	return x;
}
static int h1(int x, int n)
{
	int m = n + 1;
	x = x;
	int v2 = 0;
	ENTER(2);
	do {
		TURN(2);
		v2++;
		ENTER(3);
		for (int v3 = 0; v3 < 2; v3++) {
			TURN(3);
			if (4 < a[((2 + 5)) & 63]) {
				b[(a[(x) & 63]) & 63] += ((2 + 8) * v3);
				c[(a[(a[(x) & 63]) & 63]) & 63] += 1;
			}
			ENTER(4);
			for (int v4 = 0; v4 < 6; v4 += 3) {
				TURN(4);
				a[(4) & 63] += (a[(v3) & 63] * (n + 3));
				b[(b[((4 & c[(x) & 63])) & 63]) & 63] += c[((2 - c[(x) & 63])) & 63];
				b[(5) & 63] = x;
			}
			ENTER(5);
			for (int v5 = 0; v5 < m + 1; v5++) {
				TURN(5);
				c[(v5) & 63] = v5;
				b[(n) & 63] = x;
			}
		}
		int v6 = m + 1;
		ENTER(6);
		while (v6-- > 0) {
			TURN(6);
			switch (x & 3) {
			case 0: b[v6 & 63]++; break;
			case 1: c[x & 63]++; break;
			default: x++; }
			x = c[(v2) & 63];
		}
	} while (v2 < m + 1);
	a[((c[(n) & 63] ^ c[(n) & 63])) & 63] ^= c[(b[(x) & 63]) & 63];
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	int v7 = (m & 7);
	ENTER(7);
	while (v7-- > 0) {
		TURN(7);
		unsigned v8 = (x + n) & 255;
		ENTER(8);
		while (v8) {
			TURN(8);
			v8 >>= 1;
			b[(v7) & 63] = v8;
			unsigned v9 = v7 & 255;
			ENTER(9);
			while (v9) {
				TURN(9);
				v9 >>= 1;
				x ^= n;
				c[(v8) & 63] += ((0 * 2) ^ m);
				c[(m) & 63] += x;
			}
			ENTER(10);
			for (int v10 = 0; v10 < n - 2; v10++) {
				TURN(10);
				int v11 = n - 2;
				ENTER(11);
				while (v11-- > 0) {
					TURN(11);
					a[(b[(v10) & 63]) & 63] += 3;
					b[((x ^ v7)) & 63] ^= ((x ^ 2) - 5);
					b[(b[(c[(x) & 63]) & 63]) & 63] += x;
				}
				switch (m & 3) {
				case 0: c[x & 63]++; break;
				case 1: c[v8 & 63]++; break;
				default: x++; }
			}
		}
	}
	x += (m + (n - c[(m) & 63]));
	if (7 > 5) {
		h0(m, m);
		ENTER(12);
		for (int v12 = 0; v12 < n - 2; v12++) {
			TURN(12);
			switch (a[(4) & 63] & 3) {
			case 0: a[n & 63]++; break;
			case 1: c[v12 & 63]++; break;
			default: x++; }
		}
	} else {
		a[(3) & 63] ^= b[((m & 5)) & 63];
	}
	b[((x - c[(x) & 63])) & 63] ^= 3;
	ENTER(13);
	for (int v13 = n - 2; v13 > 0; v13--) {
		TURN(13);
		if ((n) & 2)
			continue;
		x ^= c[(v13) & 63];
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
