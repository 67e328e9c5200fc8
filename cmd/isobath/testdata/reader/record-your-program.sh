cat > app.c <<'C'
#include <stdlib.h>
enum { N = 1 << 18 };
static unsigned next[N];
int main(void) {
	unsigned at = 0;
	for (unsigned i = 0; i < N; i++)
		next[i] = (i * 1664525u + 1013904223u) % N;
	for (int step = 0; step < 1 << 23; step++)
		at = next[at];
	return at == N;
}
C
cc -O1 -g -o app app.c
lstopo-no-graphics --of xml > bignode.xml
