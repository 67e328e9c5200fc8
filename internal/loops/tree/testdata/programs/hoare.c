#include "count.h"
static int v[260];
static int part(int lo, int hi)
{
	int p = v[(lo + hi) / 2], i = lo - 1, j = hi + 1;
	ENTER(0);
	for (;;) {
		TURN(0);
		ENTER(1);
		do { TURN(1); i++; } while (v[i] < p);
		ENTER(2);
		do { TURN(2); j--; } while (v[j] > p);
		if (i >= j) return j;
		int t = v[i]; v[i] = v[j]; v[j] = t;
	}
}
static void sort(int lo, int hi)
{
	ENTER(3);
	while (lo < hi) {
		TURN(3);
		int m = part(lo, hi);
		if (m - lo < hi - m) { sort(lo, m); lo = m + 1; }
		else { sort(m + 1, hi); hi = m; }
	}
}
KERNEL void run(int n) { sort(0, n - 1); }
int main(int argc, char **argv) { for (int i = 0; i < 260; i++) v[i] = random_number() % 900; run(200 + argc); report(); return v[0] > v[1]; }
