// Word counts in an open hash table whose removals leave tombstones.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum state { FREE, TAKEN, TOMB };
struct slot {
	uint64_t key;
	char note[80];
	uint32_t state;
	uint32_t count;
};
#define SLOTS 4096
static struct slot *table;

static uint64_t next(uint64_t *s) { *s ^= *s << 13; *s ^= *s >> 7; *s ^= *s << 17; return *s; }

static struct slot *find(uint64_t key) {
	struct slot *tomb = NULL;
	for (uint64_t i = key * 0x9e3779b97f4a7c15u >> 52;; i = (i + 1) % SLOTS) {
		struct slot *s = &table[i];
		if (s->state == FREE) return tomb ? tomb : s;
		if (s->state == TOMB) { if (!tomb) tomb = s; continue; }
		if (s->key == key) return s;
	}
}

__attribute__((noinline)) uint64_t work(int n) {
	uint64_t seed = 88172645463325252u, sum = 0;
	for (int i = 0; i < n; i++) {
		uint64_t key = next(&seed) % 2500 + 1;
		struct slot *s = find(key);
		if (i % 8 == 7) { if (s->state == TAKEN) s->state = TOMB; continue; }
		if (s->state != TAKEN) { s->key = key; s->state = TAKEN; s->count = 0; }
		sum += ++s->count;
	}
	return sum;
}
int main(void) {
	table = calloc(SLOTS, sizeof *table);
	printf("%llu\n", (unsigned long long)work(4000));
	return 0;
}
