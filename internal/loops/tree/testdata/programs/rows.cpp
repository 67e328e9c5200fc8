/* A turn that a call ends by a throw, before the first mark of it that others have. */
#include "count.h"
#include <stdexcept>
static int order[40];
KERNEL static int risky(int i, int j)
{
	if ((i * 7 + j * 3) % 11 == 0)
		throw std::out_of_range("row");
	return order[(i + j) % 40];
}
KERNEL int run(int n)
{
	int sum = 0;
	ENTER(0);
	for (int i = 0; i < n; i++) {
		TURN(0);
		try {
			ENTER(1);
			for (int j = 0; j < 9; j++) {
				TURN(1);
				sum += risky(i, j);
			}
		} catch (const std::exception &) {
			sum -= i;
		}
	}
	return sum;
}
int main()
{
	for (int &o : order)
		o = random_number() % 50;
	int r = run(14);
	report();
	return r == 1;
}
