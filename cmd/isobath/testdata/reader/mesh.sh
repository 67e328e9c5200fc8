isobath import demo -o run.isobath
dumps=$FIXTURES/mesh/lulesh
mkdir dumps
cp "$dumps"/*.vtk dumps/
cat > cells.c <<'END'
#include <stdlib.h>
static void sweep(volatile double *m_e, volatile int *m_nodelist) {
	for (int c = 0; c < 500; c++) {
		m_e[c] = c;
		m_nodelist[8 * c] = c;
	}
}
int main(void) {
	double *m_e = malloc(8000 * sizeof *m_e);
	int *m_nodelist = malloc(8 * 8000 * sizeof *m_nodelist);
	sweep(m_e, m_nodelist);
}
END
cc -g -fno-inline -o cells cells.c
isobath record --refs --function sweep -o refs.isobath -- ./cells
