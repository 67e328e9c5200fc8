#include "count.h"
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define SWAP(x, y) do { int t_ = x; x = y; y = t_; } while (0)
static int a[25][25], s;
KERNEL void run(void)
{
	ENTER(0);
	EACH (i, 25) {
		TURN(0);
		ENTER(1);
		EACH (j, i) {
			TURN(1);
			SWAP(a[i][j], a[j][i]);
		}
	}
	ENTER(2);
	EACH (i, 25) {
		TURN(2);
		s += a[i][24 - i];
	}
}
int main(void)
{
	EACH (i, 625)
		a[0][i] = random_number();
	run();
	report();
	return s == 0;
}
