#include "count.h"
struct tree { int value, kids; struct tree *kid[4]; };
static struct tree pool[200];
static int made, sum;
static struct tree *grow(int depth)
{
	struct tree *t = &pool[made++];
	t->value = random_number() % 100;
	t->kids = depth ? random_number() % 4 : 0;
	for (int i = 0; i < t->kids; i++)
		t->kid[i] = grow(depth - 1);
	return t;
}
static int visit(struct tree *t)
{
	int s = t->value;
	ENTER(1);
	for (int i = 0; i < t->kids; i++) {
		TURN(1);
		s += visit(t->kid[i]);
	}
	return t->value = s;
}
KERNEL void run(void)
{
	ENTER(0);
	for (int r = 0; r < 3; r++) {
		TURN(0);
		sum += visit(&pool[0]);
	}
}
int main(void)
{
	grow(6), pool[0].kids = 3, pool[0].kid[0] = grow(5), pool[0].kid[1] = grow(5), pool[0].kid[2] = grow(5);
	run();
	report();
	return sum == 0;
}
