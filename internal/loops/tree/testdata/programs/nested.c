#include "count.h"
static float p[20][3], v[20][3], f[20][3];
KERNEL void run(void)
{
	ENTER(0);
	for (int s = 0; s < 3; s++) {
		TURN(0);
		ENTER(1);
		for (int i = 0; i < 20; i++) {
			TURN(1);
			ENTER(2);
			for (int j = i + 1; j < 20; j++) {
				TURN(2);
				float d[3], r = 0.01f;
				ENTER(3);
				for (int k = 0; k < 3; k++) {
					TURN(3);
					d[k] = p[j][k] - p[i][k];
					r += d[k] * d[k];
				}
				if (r > 300)
					continue;
				ENTER(4);
				for (int k = 0; k < 3; k++) {
					TURN(4);
					f[i][k] += d[k] / r;
					f[j][k] -= d[k] / r;
				}
			}
		}
		ENTER(5);
		for (int i = 0; i < 20; i++) {
			TURN(5);
			ENTER(6);
			for (int k = 0; k < 3; k++) {
				TURN(6);
				v[i][k] += f[i][k];
				p[i][k] += v[i][k] * 0.1f;
				f[i][k] = 0;
			}
		}
	}
}
int main(void)
{
	for (int i = 0; i < 60; i++)
		p[0][i] = random_number() % 30;
	run();
	report();
	return p[0][0] == 0;
}
