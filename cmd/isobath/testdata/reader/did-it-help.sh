cat > work.c <<'C'
#include <stdio.h>
#include <stdlib.h>
static unsigned next[1 << 16];
int main(int argc, char **argv) {
	unsigned at = 0;
	long steps = (argc > 1 ? atol(argv[1]) : 0) * 1000;
	if (!steps)
		steps = STEPS;
	for (unsigned i = 0; i < 1 << 16; i++)
		next[i] = (i * 40503 + 1) & 0xffff;
	while (steps--)
		at = next[at];
	return at == 1 << 20;
}
C
cc -O1 -g -DSTEPS=8000000 -o old work.c
cc -O1 -g -DSTEPS=8000000 -o new work.c
cc -O1 -g -DSTEPS=1 -o work work.c
touch input
mkdir runs nightly candidate base
for n in 1 2 3 4 5 6; do
	isobath import demo -o grow-$n.isobath --no-sources
	cp -r grow-$n.isobath runs/r$n.isobath
	isobath record -o nightly/$n.isobath -- ./work 2000
	cp -r grow-$n.isobath base/$n.isobath
	cp -r grow-$n.isobath candidate/$n.isobath
done
echo run,n > runs.csv
for n in 1 2 3 4 5 6; do echo r$n,$n >> runs.csv; done
echo n,time > table.csv
for n in 1 2 3 4 5 6; do echo $n,$n.5 >> table.csv; done
