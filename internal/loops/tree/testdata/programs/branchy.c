#include "count.h"
static int a[200], odd, even, big;
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 0; i < 200; i++) {
		TURN(0);
		if (a[i] % 7 == 0)
			continue;
		if (a[i] & 1) {
			odd += a[i];
			if (a[i] > 30000) {
				big++;
				continue;
			}
			a[i]--;
		} else {
			even += a[i];
		}
		ENTER(1);
		while (a[i] > 20000) {
			TURN(1);
			if (a[i] % 3 == 0)
				a[i] -= 900;
			else
				a[i] -= 301;
		}
	}
}
int main(void)
{
	for (int i = 0; i < 200; i++)
		a[i] = random_number();
	run();
	report();
	return odd == even;
}
