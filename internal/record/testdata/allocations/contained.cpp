// Containers and classes: what counts is the user's line.
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Cell {
	double v[40];
	std::vector<int> near;
};

struct Mesh {
	std::vector<Cell> cells;
	std::map<int, std::string> names;
	std::unique_ptr<double[]> field;
};

static __attribute__((noinline)) void fill(Mesh &m, int n)
{
	m.cells.resize(n);
	for (int i = 0; i < n; i++) {
		m.cells[i].near.push_back(i);
		m.cells[i].near.push_back(i + 1);
		m.names[i] = std::string(50 + i % 3, 'x');
	}
	m.field = std::make_unique<double[]>(n);
}

int main()
{
	Mesh *kept = new Mesh;
	fill(*kept, 300);
	for (int i = 0; i < 5; i++) {
		Mesh m;
		fill(m, 100 * i);
	}
	return kept->cells.size() != 300;
}
