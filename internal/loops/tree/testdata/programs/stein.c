#include "count.h"
static unsigned a[80], out[80];
static unsigned gcd(unsigned u, unsigned v)
{
	int k = 0;
	if (!u || !v) return u | v;
	ENTER(0);
	while (!((u | v) & 1)) { TURN(0); u >>= 1; v >>= 1; k++; }
	ENTER(1);
	do {
		TURN(1);
		ENTER(2);
		while (!(u & 1)) { TURN(2); u >>= 1; }
		ENTER(3);
		while (!(v & 1)) { TURN(3); v >>= 1; }
		if (u > v) { unsigned t = u; u = v; v = t; }
		v -= u;
	} while (v);
	return u << k;
}
KERNEL void run(int n)
{
	ENTER(4);
	for (int i = 0; i + 1 < n; i++) { TURN(4); out[i] = gcd(a[i], a[i + 1]); }
}
int main(int argc, char **argv) { for (int i = 0; i < 80; i++) a[i] = random_number(); run(60 + argc); report(); return out[0] == 12345; }
