/* A plugin in C++: it allocates with new, and some news fail. */
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#ifdef OWN_NEW /* memory of this allocator must come back to it */
static char pool[8 << 20];
static std::size_t used;
void *operator new(std::size_t n)
{
	n = (n + 15) & ~(std::size_t)15;
	if (n > sizeof pool)
		throw std::bad_alloc();
	std::size_t at = __atomic_fetch_add(&used, n, __ATOMIC_RELAXED);
	if (at > sizeof pool - n)
		throw std::bad_alloc();
	return pool + at;
}
void operator delete(void *p) noexcept
{
	if (p && ((char *)p < pool || (char *)p >= pool + sizeof pool))
		std::abort();
}
void operator delete(void *p, std::size_t) noexcept { operator delete(p); }
#endif

extern "C" int work(int n)
{
	std::vector<std::string> v;
	int sum = 0;
	for (int i = 0; i < n; i++)
		v.push_back(std::string(i % 50, 'x'));
	for (auto &s : v)
		sum += s.size();
	try {
		volatile std::size_t huge = ~(std::size_t)0 >> 2;
		char *p = new char[huge];
		sum += p[0];
	} catch (std::bad_alloc &) {
		sum++;
	}
	char *block = new char[10000];
	block[1] = 1;
	sum += block[1];
	delete[] block;
	return sum;
}
