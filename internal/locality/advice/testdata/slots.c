// Open addressing: the slot of a key is computed from it, so that nobody can put
// slots elsewhere.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct slot { uint64_t key, value; };
enum { SLOTS = 1 << 14 };
static struct slot *table;

static uint64_t next(uint64_t *s)
{
	*s = *s * 6364136223846793005ull + 1442695040888963407ull;
	return *s >> 33;
}

__attribute__((noinline)) uint64_t work(int lookups)
{
	uint64_t s = 7, sum = 0;
	for (int i = 0; i < lookups; i++) {
		uint64_t key = next(&s) % 5000 + 1, at = key * 0x9e3779b97f4a7c15ull >> 50;
		while (table[at].key != 0 && table[at].key != key)
			at = (at + 1) % SLOTS;
		table[at].key = key;
		sum += ++table[at].value;
	}
	return sum;
}

int main(void)
{
	table = calloc(SLOTS, sizeof *table);
	printf("%lu\n", (unsigned long)work(30000));
	return 0;
}
