package symbol

import "testing"

func TestHolder(t *testing.T) {
	for _, tt := range []struct {
		line, function, want string
		caller               bool
	}{
		{"      m_x.resize(numNode);  // coordinates", "Domain::AllocateNodePersistent(int)", "Domain.m_x", false},
		{"	this->cells.reserve(n);", "Mesh::Mesh(int)", "Mesh.cells", false},
		{"   Real_t *e_old = Allocate<Real_t>(numElemReg) ;", "EvalEOSForElems(Domain&, double*, int)", "e_old", false},
		{"	std::vector<int> v(30000, 1);", "main", "v", false},
		{"	std::vector<std::pair<int, double>> table{n};", "main", "table", false},
		{"	double *a = malloc(n * sizeof *a);", "main", "a", false},
		{"	double *a = new double[n];", "main", "a", false},
		{"	s->grid = calloc(n, 8);", "setup", "s.grid", false},
		{"	u[i] = malloc(n);", "setup", "u[i]", false},
		{"	double *a = malloc(n), *b = malloc(n);", "main", "", false},
		{"	a = malloc(n); b = malloc(n);", "main", "", false},
		{"	if (posix_memalign((void **)&buffer, 64, n)) abort();", "main", "buffer", false},
		{"   allocate(field%rho(nx, ny), stat=ierr)", "setup_", "field.rho", false},
		{"   return static_cast<T *>(malloc(sizeof(T)*size)) ;", "Allocate<double>", "", true},
		{"	fill(malloc(n));", "main", "", false},
		{"	if (x == malloc(n)) y();", "main", "", false},
		{"", "main", "", false},
	} {
		if got, caller := holder(tt.line, tt.function); got != tt.want || caller != tt.caller {
			t.Errorf("%q: %q, %v; want %q, %v", tt.line, got, caller, tt.want, tt.caller)
		}
	}
}
