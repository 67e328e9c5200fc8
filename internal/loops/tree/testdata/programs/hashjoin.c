#include "count.h"
#define N 200
#define BUCKETS 64
struct entry { struct entry *next; int key, value; };
static struct entry *table[BUCKETS];
static struct entry pool[N];
static int probe[N];
static long matches;
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 0; i < N; i++) {
		TURN(0);
		struct entry *e = &pool[i];
		e->key = random_number() % 150;
		e->value = i;
		e->next = table[e->key % BUCKETS];
		table[e->key % BUCKETS] = e;
	}
	ENTER(1);
	for (int i = 0; i < N; i++) {
		TURN(1);
		ENTER(2);
		for (struct entry *e = table[probe[i] % BUCKETS]; e; e = e->next) {
			TURN(2);
			if (e->key == probe[i])
				matches += e->value;
		}
	}
}
int main(void)
{
	for (int i = 0; i < N; i++)
		probe[i] = random_number() % 150;
	run();
	report();
	return matches == 0;
}
