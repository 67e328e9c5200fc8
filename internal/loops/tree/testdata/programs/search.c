#include "count.h"
static char text[400];
static const char *words[] = {"abc", "ba", "caab", "zz", "b"};
static int hits;
KERNEL void run(void)
{
	ENTER(0);
	for (int w = 0; w < 5; w++) {
		TURN(0);
		const char *p = words[w];
		ENTER(1);
		for (const char *t = text; *t; t++) {
			TURN(1);
			int k = 0;
			ENTER(2);
			while (p[k] && t[k] == p[k]) {
				TURN(2);
				k++;
			}
			if (!p[k])
				hits++;
		}
	}
}
int main(void)
{
	for (int i = 0; i < 399; i++)
		text[i] = 'a' + random_number() % 3;
	run();
	report();
	return hits == 0;
}
