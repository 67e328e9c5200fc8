#include "count.h"
#define EACH(v, l) for (int v = 0; v < (l); v++)
static int a[64], b[64], c[64], p[64];
static int h0(int x, int n)
{
	int m = n + 1;
	if (n > n) {
		ENTER(0);
		for (int v0 = 0; v0 < m + 1; v0 += 2) {
			TURN(0);
			c[((v0 + (a[(x) & 63] * 2))) & 63] -= b[(n) & 63];
			switch (v0 & 3) {
			case 0: a[n & 63]++; continue;
			case 1: b[v0 & 63]++; break;
			default: x++; }
			int v1 = v0 & 63;
			ENTER(1);
			while (p[v1] != v1) {
				TURN(1);
				v1 = p[v1];
				a[(a[((b[(v0) & 63] ^ a[(x) & 63])) & 63]) & 63] -= (n * v0);
				b[(x) & 63] ^= n;
			}
			out1: ;
		}
	} else {
		b[((n * (c[(n) & 63] - b[(n) & 63]))) & 63] = c[(x) & 63];
	}
	return x;
}
static int h1(int x, int n)
{
	int m = n + 1;
	h0((c[(x) & 63] - (c[(n) & 63] ^ b[(n) & 63])), m);
	return x;
}
static int h2(int x, int n)
{
	int m = n + 1;
	if ((n) & 1) {
		int v2 = 0;
		ENTER(2);
		for (;;) {
			TURN(2);
			if (v2++ >= m)
				break;
			ENTER(3);
			for (int v3 = 0; v3 < m; v3++) {
				TURN(3);
				if (a[v3] > b[v3])
	c[v3] = x;
			}
			if ((c[(v2) & 63] - (5 & b[(x) & 63])) == 0) {
				c[((b[(v2) & 63] ^ v2)) & 63] = n;
				b[(x) & 63] = ((x + x) ^ a[(x) & 63]);
			}
		}
		out2: ;
	}
	ENTER(4);
	for (int v4 = 4; v4 > 0; v4--) {
		TURN(4);
		ENTER(5);
		for (int v5 = v4 & 7; v5 < 8; v5++) {
			TURN(5);
			ENTER(6);
			EACH(v6, 7) {
				TURN(6);
				a[(7) & 63] ^= n;
				c[(a[(v6) & 63]) & 63] += (v5 + c[(v5) & 63]);
			}
		}
		int v7 = n - 2;
		ENTER(7);
		while (v7-- > 0) {
			TURN(7);
			b[(((n + 4) + v4)) & 63] ^= v4;
			x += h0(v7, 4);
		}
	}
	out4: ;
	ENTER(8);
	for (int v8 = 0; v8 < m + 1; v8++) {
		TURN(8);
		int v9 = 0;
		ENTER(9);
		do {
			TURN(9);
			v9++;
			b[(v9) & 63] = a[((x * c[(n) & 63])) & 63];
			x += a[(v9) & 63];
			int v10 = 0;
			ENTER(10);
			do {
				TURN(10);
				c[(v10) & 63] = (v9 ^ 4);
				a[(a[(v8) & 63]) & 63] ^= a[((5 ^ 9)) & 63];
			} while (++v10 < m && c[v10 & 63] > 1);
		} while (v9 < m);
		out9: ;
		x += h1(v8, m);
	}
	return x;
}
KERNEL int run(int n, int m)
{
	int x = n;
	int v11 = 0;
	ENTER(11);
	for (;;) {
		TURN(11);
		if (v11++ >= 6)
			break;
		int v12 = m;
		ENTER(12);
		while (v12-- > 0) {
			TURN(12);
			int v13 = 0;
			ENTER(13);
			for (;;) {
				TURN(13);
				if (v13++ >= ((0 ^ x) & 7))
					break;
				x ^= n;
				x ^= (c[(v13) & 63] & v11);
				b[(v12) & 63] ^= 3;
			}
		}
	}
	out11: ;
	a[(8) & 63] = n;
	if (x > 2 && c[n & 63]) {
		if (m > 2 || a[x & 63] > 2) {
			x ^= m;
		} else {
			c[(a[(6) & 63]) & 63] ^= 5;
		}
		x ^= n;
	}
	x ^= n;
	if (x == n) {
		x ^= m;
	} else {
		c[(5) & 63] += b[(n) & 63];
	}
	x ^= ((m + 2) & c[(x) & 63]);
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
