#include "count.h"
static int a[90], b[90], flag = 1, scale = 3;
KERNEL void run(void)
{
	ENTER(0);
	for (int r = 0; r < 6; r++) {
		TURN(0);
		flag = r & 1;
		ENTER(1);
		for (int i = 0; i < 90; i++) {
			TURN(1);
			if (flag)
				a[i] += b[i] * scale;
			else
				b[i] -= a[i] >> 2;
		}
	}
	ENTER(2);
	for (int i = 0; i < 90; i++) {
		TURN(2);
		if (i < 45)
			a[i] = b[89 - i];
		else
			a[i] ^= scale;
	}
}
int main(void)
{
	for (int i = 0; i < 90; i++)
		a[i] = b[i] = random_number();
	run();
	report();
	return a[0] == 0;
}
