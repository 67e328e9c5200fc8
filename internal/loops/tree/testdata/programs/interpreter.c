#include "count.h"
enum { PUSH, ADD, DEC, JNZ, STORE, LOAD, HALT };
static int program[] = {PUSH, 0, STORE, 0, PUSH, 25, STORE, 1, LOAD, 0, LOAD, 1, ADD, STORE, 0, LOAD, 1, DEC, STORE, 1, LOAD, 1, JNZ, 8, HALT};
static int stack[64], memory[8];
KERNEL void run(void)
{
	int pc = 0, sp = 0;
	ENTER(0);
	for (;;) {
		TURN(0);
		switch (program[pc++]) {
		case PUSH: stack[sp++] = program[pc++]; break;
		case ADD: sp--; stack[sp - 1] += stack[sp]; break;
		case DEC: stack[sp - 1]--; break;
		case JNZ: if (stack[--sp]) pc = program[pc]; else pc++; break;
		case STORE: memory[program[pc++]] = stack[--sp]; break;
		case LOAD: stack[sp++] = memory[program[pc++]]; break;
		case HALT: return;
		}
	}
}
int main(void)
{
	run();
	report();
	return memory[0] != 325;
}
