#include "count.h"
struct cell { int key; struct cell *next; };
static struct cell pool[30];
static int a[30], s;
static int length(const struct cell *c, int n)
{
	if (!c)
		return n;
	return length(c->next, n + c->key);
}
static int gcd(int x, int y) { return y ? gcd(y, x % y) : x; }
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 0; i < 30; i++) {
		TURN(0);
		a[i] = gcd(a[i], 36) + length(&pool[i], 0);
	}
}
int main(void)
{
	for (int i = 0; i < 30; i++) {
		a[i] = random_number();
		pool[i].key = i;
		pool[i].next = i < 29 ? &pool[i + 1] : 0;
	}
	run();
	report();
	return s != 0;
}
