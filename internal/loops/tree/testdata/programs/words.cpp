#include "count.h"
#include <map>
#include <string>
#include <vector>
static std::vector<std::string> text;
static std::map<std::string, int> counts;
static long total;
extern "C" KERNEL void run()
{
	ENTER(0);
	for (const auto &w : text) {
		TURN(0);
		counts[w]++;
	}
	ENTER(1);
	for (auto it = counts.begin(); it != counts.end(); ++it) {
		TURN(1);
		if (it->second < 2)
			continue;
		ENTER(2);
		for (char c : it->first) {
			TURN(2);
			total += c * it->second;
		}
	}
}
int main()
{
	for (int i = 0; i < 60; i++)
		text.push_back(std::string(1 + random_number() % 5, 'a' + random_number() % 4));
	run();
	report();
	return total == 0;
}
