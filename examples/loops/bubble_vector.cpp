// Bubble sort of the numbers given as arguments, in a std::vector: the same
// loops as in the array, with a function call for every element looked at.
#include <cstdlib>
#include <utility>
#include <vector>

#include "region.h"

static void sort(std::vector<int> &value)
{
	for (std::size_t pass = 0; pass + 1 < value.size(); pass++) {
		bool swapped = false;
		for (std::size_t i = 0; i + 1 < value.size() - pass; i++) {
			if (value[i] > value[i + 1]) {
				std::swap(value[i], value[i + 1]);
				swapped = true;
			}
		}
		if (!swapped)
			break;
	}
}

int main(int argc, char **argv)
{
	std::vector<int> value;
	for (int i = 1; i < argc; i++)
		value.push_back(std::atoi(argv[i]));
	region_begin();
	sort(value);
	region_end();
	return !value.empty() && value.front() > value.back();
}
