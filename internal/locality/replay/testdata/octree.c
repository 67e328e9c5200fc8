// Bodies in an octree; the mass within a radius is asked for again and again.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
	float x, y, z, half;
	uint32_t child[8];
	double mass;
	float velocity[6];
	uint32_t body;
};
static struct node *pool;
static uint32_t used = 1;
static uint64_t seed = 88172645463325252u;
static float uniform(void) { seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17; return (seed >> 40) / 16777216.0f; }

static void insert(uint32_t at, float x, float y, float z, int depth) {
	for (;;) {
		struct node *n = &pool[at];
		n->mass += 1;
		if (depth-- == 0) return;
		int o = (x > n->x) | (y > n->y) << 1 | (z > n->z) << 2;
		if (!n->child[o]) {
			struct node *c = &pool[used];
			c->half = n->half / 2;
			c->x = n->x + (o & 1 ? c->half : -c->half);
			c->y = n->y + (o & 2 ? c->half : -c->half);
			c->z = n->z + (o & 4 ? c->half : -c->half);
			n->child[o] = used++;
		}
		at = n->child[o];
	}
}
static double within(uint32_t at, float x, float y, float z, float r) {
	struct node *n = &pool[at];
	float dx = n->x - x, dy = n->y - y, dz = n->z - z, far = r + n->half;
	if (dx > far || dx < -far || dy > far || dy < -far || dz > far || dz < -far) return 0;
	double sum = 0;
	int leaf = 1;
	for (int o = 0; o < 8; o++)
		if (n->child[o]) { leaf = 0; sum += within(n->child[o], x, y, z, r); }
	return leaf ? n->mass : sum;
}
__attribute__((noinline)) double work(int queries) {
	double sum = 0;
	for (int i = 0; i < queries; i++) sum += within(1, uniform(), uniform(), uniform(), 0.05f);
	return sum;
}
int main(void) {
	pool = calloc(1 << 16, sizeof *pool);
	pool[used++] = (struct node){.x = .5f, .y = .5f, .z = .5f, .half = .5f};
	for (int i = 0; i < 2000; i++) insert(1, uniform(), uniform(), uniform(), 5);
	printf("%g\n", work(100));
	return 0;
}
