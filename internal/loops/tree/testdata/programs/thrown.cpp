// Loops that exceptions leave, through calls and from the middle of a nest.
#include "count.h"
#include <vector>
#include <stdexcept>
static std::vector<int> values(40);
static int probe(int from)
{
	int sum = 0;
	ENTER(0);
	for (int i = from; i < 40; i++) {
		TURN(0);
		sum += values[i];
		if (values[i] == 7)
			throw i;
	}
	return sum;
}
KERNEL int run()
{
	int r = 0;
	ENTER(1);
	for (int from = 0; from < 40; from += 3) {
		TURN(1);
		try {
			r += probe(from);
		} catch (int at) {
			ENTER(2);
			for (int k = 0; k < at; k++) {
				TURN(2);
				r ^= values[k];
			}
		}
	}
	try {
		ENTER(3);
		for (int i = 0; i < 30; i++) {
			TURN(3);
			ENTER(4);
			for (int j = 0; j < 9; j++) {
				TURN(4);
				r += values[(i + j) % 40];
				if (i * j == 48)
					throw std::runtime_error("enough");
			}
		}
	} catch (const std::exception &) {
		r++;
	}
	return r;
}
int main()
{
	for (int &v : values)
		v = random_number() % 9;
	int r = run();
	report();
	return r == -1;
}
