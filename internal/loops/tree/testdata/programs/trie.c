#include "count.h"
struct node { struct node *next[4]; int ends; };
static struct node pool[400], *root = pool;
static int made = 1, hits;
static char keys[50][8];
static void insert(const char *s)
{
	struct node *n = root;
	ENTER(1);
	for (; *s; s++) {
		TURN(1);
		int c = *s - 'a';
		if (!n->next[c])
			n->next[c] = &pool[made++];
		n = n->next[c];
	}
	n->ends++;
}
static int find(const char *s)
{
	struct node *n = root;
	ENTER(3);
	while (n && *s) {
		TURN(3);
		n = n->next[*s++ - 'a'];
	}
	return n ? n->ends : 0;
}
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 0; i < 25; i++) {
		TURN(0);
		insert(keys[i]);
	}
	ENTER(2);
	for (int i = 0; i < 50; i++) {
		TURN(2);
		hits += find(keys[i]) > 0;
	}
}
int main(void)
{
	for (int i = 0; i < 50; i++)
		for (int k = 0; k < 2 + (int)random_number() % 5; k++)
			keys[i][k] = 'a' + random_number() % 4;
	run();
	report();
	return hits == 0;
}
