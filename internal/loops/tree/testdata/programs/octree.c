#include "count.h"
struct body { double p[3], m; };
struct cell { struct cell *kid[8]; struct body *b; double m, c[3]; } pool[600];
static int used; static struct body bodies[50]; static double total;
static int octant(double *c, double *p) { int o = 0;
	ENTER(0);
	for (int d = 0; d < 3; d++) { TURN(0); if (p[d] > c[d]) o |= 1 << d; }
	return o; }
static struct cell *make(double *c, double h, int o) { struct cell *x = &pool[used++];
	ENTER(1);
	for (int d = 0; d < 3; d++) { TURN(1); x->c[d] = c[d] + (o >> d & 1 ? h : -h); }
	return x; }
static void put(struct cell *x, struct body *b, double h, int depth)
{
	x->m += b->m;
	if (depth > 6) return;
	int o = octant(x->c, b->p);
	if (!x->kid[o]) { x->kid[o] = make(x->c, h / 2, o); x->kid[o]->b = b; x->kid[o]->m = b->m; return; }
	if (x->kid[o]->b) { struct body *old = x->kid[o]->b; x->kid[o]->b = 0; x->kid[o]->m = 0; put(x->kid[o], old, h / 2, depth + 1); }
	put(x->kid[o], b, h / 2, depth + 1);
}
static void mass(struct cell *x)
{
	total += x->m;
	ENTER(2);
	for (int i = 0; i < 8; i++) { TURN(2); if (x->kid[i]) mass(x->kid[i]); }
}
KERNEL void run(int n)
{
	used = 1;
	ENTER(3);
	for (int i = 0; i < n; i++) { TURN(3); put(pool, &bodies[i], 1, 0); }
	mass(pool);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 50; i++) { for (int d = 0; d < 3; d++) bodies[i].p[d] = random_number() % 2000 / 1000.0 - 1; bodies[i].m = 1; }
	run(argc + 40); report(); return total == 3;
}
