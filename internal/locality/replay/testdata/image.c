// A blur over pixels that carry more than the colour it reads.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct pixel {
	uint8_t r, g, b, a;
	double depth;
	uint16_t material;
	double normal[3];
};
#define W 128
#define H 64
static struct pixel *in;
static uint8_t *out;

__attribute__((noinline)) int work(void) {
	for (int x = 1; x < W - 1; x++)
		for (int y = 1; y < H - 1; y++) {
			int s = 0;
			for (int dy = -1; dy <= 1; dy++)
				s += in[(y + dy) * W + x - 1].g + 2 * in[(y + dy) * W + x].g + in[(y + dy) * W + x + 1].g;
			out[y * W + x] = s / 12;
		}
	return out[W + 1];
}
int main(void) {
	in = calloc(W * H, sizeof *in);
	out = calloc(W * H, 1);
	for (int i = 0; i < W * H; i++) in[i].g = i * 7;
	printf("%d\n", work());
	return 0;
}
