#include "count.h"
struct machine { int state, i, k, value; };
static struct machine m[3];
static int data[40], out[400], n;
/* A coroutine by hand: each call goes on where the last one stopped. */
static int resume(struct machine *c)
{
	switch (c->state) {
	case 0:
		for (c->i = 0; c->i < 8; c->i++) {
			for (c->k = 0; c->k < c->i; c->k++) {
				c->value = data[c->i * 5 + c->k];
				c->state = 1;
				return 1;
	case 1:;
			}
		}
		c->state = 2;
	case 2:
		return 0;
	}
	return 0;
}
KERNEL void run(void)
{
	int live = 3;
	ENTER(0);
	while (live > 0) {
		TURN(0);
		live = 0;
		ENTER(1);
		for (int j = 0; j < 3; j++) {
			TURN(1);
			if (resume(&m[j])) {
				out[n++] = m[j].value;
				live++;
			}
		}
	}
}
int main(void)
{
	for (int i = 0; i < 40; i++)
		data[i] = random_number();
	run();
	report();
	return n == 0;
}
