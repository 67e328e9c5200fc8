#include "count.h"
struct node { struct node *next; long v; };
static struct node *head;
static long sum, longest;
KERNEL void run(void)
{
	ENTER(0);
	for (int r = 0; r < 7; r++) {
		TURN(0);
		struct node *p = head;
		ENTER(1);
		while (p) {
			TURN(1);
			sum += p->v;
			p = p->next;
		}
		p = head;
		ENTER(2);
		do {
			TURN(2);
			if (p->v > longest)
				longest = p->v;
			p = p->next;
		} while (p);
	}
}
int main(void)
{
	for (int i = 0; i < 33; i++) {
		struct node *n = malloc(sizeof *n);
		n->next = head;
		n->v = random_number();
		head = n;
	}
	run();
	report();
	return sum == 0;
}
