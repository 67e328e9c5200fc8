// Accesses of every width and kind that compilers make of plain code, for the
// comparison of recorders: region() is recorded.
#include <algorithm>
#include <complex>

struct part {
	char a;
	short b;
	int c;
	float d;
	long e;
	double f;
	__int128 g;
	long double h;
	bool k[3];
};

static part parts[40];
static unsigned char bytes[512];
static std::complex<double> points[64];
static float numbers[256];

__attribute__((noinline)) double region(int n)
{
	double t = 0;
	for (int i = 0; i < n; i++) {
		part &p = parts[i % 40];
		p.a += i, p.b -= 3, p.c *= i, p.d += 1.5f, p.e <<= 1, p.f /= 2, p.g += i, p.h *= 1.25L, p.k[i % 3] ^= 1;
		t += p.f + (double)p.h;
	}
	for (int i = 0; i < 512; i++)
		bytes[i] = bytes[i * 7 & 511] + i;
	for (auto &c : points)
		c = c * std::complex<double>(0.5, 0.25) + 1.0;
	for (int i = 0; i < 256; i++)
		numbers[i] = numbers[255 - i] * 2 + i;
	int expected = 0;
	__atomic_fetch_add(&parts[1].c, 3, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n(&parts[2].c, &expected, 5, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	asm volatile("cld; mov $20, %%ecx; lea %0, %%rsi; lea %1, %%rdi; rep movsb" ::"m"(bytes), "m"(bytes[100]) : "rcx", "rsi", "rdi", "memory");
	std::sort(numbers, numbers + 100);
	return t + numbers[3];
}

int main() { return region(100) > 1e30; }
