#include "count.h"
/* an interpreter with computed gotos, of a program with two nested loops */
static int code[] = {0, 6, 1, 0, 0, 5, 1, 1, 2, 2, 0, 3, 1, 4, 1, 8, 3, 0, 4, 0, 4, 5};
static int cells[8];
KERNEL int run(int *pc)
{
	static void *ops[] = {&&push, &&store, &&add, &&dec, &&jnz, &&halt};
	int stack[8], *sp = stack;
	int *start = pc;
	goto *ops[*pc++];
push:
	*sp++ = *pc++;
	goto *ops[*pc++];
store:
	cells[*pc++] = *--sp;
	goto *ops[*pc++];
add:
	cells[*pc] += cells[*(pc + 1)];
	pc += 2;
	goto *ops[*pc++];
dec:
	cells[*pc++]--;
	goto *ops[*pc++];
jnz:
	if (cells[*pc])
		pc = start + pc[1];
	else
		pc += 2;
	goto *ops[*pc++];
halt:;
	int sum = 0;
	ENTER(0);
	for (int i = 0; i < 8; i++) {
		TURN(0);
		int c = cells[i];
		ENTER(1);
		while (c) {
			TURN(1);
			sum += c & 1;
			c >>= 1;
			cells[7] ^= c;
			if (sum > 100)
				break;
		}
	}
	return sum;
}
int main(void)
{
	int s = run(code);
	report();
	return s < 0;
}
