#include "count.h"
static int count[40], items[40][5], sum;
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 0; i < 40; i++) {
		TURN(0);
		ENTER(1);
		for (int k = 0; k < count[i]; k++) {
			TURN(1);
			sum += items[i][k];
		}
		int *p = items[i];
		ENTER(2);
		while (*p > 10000 && p < &items[i][4]) {
			TURN(2);
			*p++ /= 2;
		}
		if (count[i] == 2) {
			ENTER(3);
			for (int k = 4; k >= count[i]; k--) {
				TURN(3);
				items[i][k] = sum;
			}
		}
	}
}
int main(void)
{
	for (int i = 0; i < 40; i++) {
		count[i] = random_number() % 5;
		for (int k = 0; k < 5; k++)
			items[i][k] = random_number();
	}
	run();
	report();
	return sum == 0;
}
