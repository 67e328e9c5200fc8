#include "count.h"
static int a[64], b[64], x;
/* Whether a turn of the inner loop ends it is decided before the loop, so that the
 * first turn of an entry may end there. */
KERNEL void run(int n, int m)
{
	ENTER(0);
	for (int i = n; i > 0; i--) {
		TURN(0);
		int k = m;
		ENTER(1);
		while (k-- > 0) {
			TURN(1);
			if (i & 1)
				break;
			a[(x + k) & 63] ^= a[k & 63];
		}
		b[i & 63] += k;
	}
}
int main(int argc, char **argv)
{
	run(argc + 4, argc + 6);
	report();
	return x == -7777777;
}
