#include "count.h"
static char text[600]; static int kinds[300], n;
KERNEL void run(const char *p)
{
	ENTER(0);
	for (;;) {
		TURN(0);
		ENTER(1);
		while (*p == ' ' || *p == '\t') { TURN(1); p++; }
		if (!*p) break;
		if (*p >= '0' && *p <= '9') {
			ENTER(2);
			do { TURN(2); p++; } while (*p >= '0' && *p <= '9');
			kinds[n++] = 1;
		} else if (*p >= 'a' && *p <= 'z') {
			ENTER(3);
			while (*p >= 'a' && *p <= 'z') { TURN(3); p++; }
			kinds[n++] = 2;
		} else { p++; kinds[n++] = 3; }
	}
}
int main(int argc, char **argv) { for (int i = 0; i < 590; i++) text[i] = "ab  1 2\t+c;de 77"[random_number() % 16]; run(text + argc); report(); return n == 7; }
