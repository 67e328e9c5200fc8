#include "count.h"
static unsigned char s[700]; static int points[400], n;
KERNEL void run(int end)
{
	int i = 0;
	ENTER(0);
	while (i < end) {
		TURN(0);
		ENTER(1);
		do { TURN(1); i++; } while ((s[i] & 0xC0) == 0x80);
		n++;
	}
	i = 0;
	ENTER(2);
	do {
		TURN(2);
		ENTER(3);
		do { TURN(3); points[i & 255] += s[i]; i++; } while (s[i] & 1);
	} while (i < end);
}
int main(int argc, char **argv) { for (int i = 0; i < 690; i++) s[i] = random_number() % 3 ? 0x80 | random_number() % 64 : random_number() % 128; run(600 + argc); report(); return n == 7777; }
