#include "count.h"
static unsigned char code[80];
static int acc[8], out[80], n;
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 0; i < 80; i++) {
		TURN(0);
		switch (code[i] & 7) {
		case 0:
			acc[0]++;
			continue;
		case 1:
			switch (code[i] >> 3 & 3) {
			case 0: acc[1]++; break;
			case 1: acc[2] += acc[1]; break;
			default: goto next;
			}
			break;
		case 2: case 3:
			ENTER(1);
			for (int k = code[i] >> 5; k > 0; k--) {
				TURN(1);
				if (acc[k] > 50)
					break;
				acc[k] += k;
			}
			break;
		default:
			acc[3]--;
		}
		out[n++] = acc[3];
	next:;
	}
}
int main(void)
{
	for (int i = 0; i < 80; i++)
		code[i] = random_number() >> 3;
	run();
	report();
	return n == 0;
}
