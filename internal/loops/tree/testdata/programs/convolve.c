#include "count.h"
#define W 40
#define H 20
static short image[H][W];
static int out[H][W];
static const short kernel[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
KERNEL void run(void)
{
	ENTER(0);
	for (int y = 1; y < H - 1; y++) {
		TURN(0);
		ENTER(1);
		for (int x = 1; x < W - 1; x++) {
			TURN(1);
			int sum = 0;
			ENTER(2);
			for (int dy = -1; dy <= 1; dy++) {
				TURN(2);
				ENTER(3);
				for (int dx = -1; dx <= 1; dx++) {
					TURN(3);
					sum += image[y + dy][x + dx] * kernel[dy + 1][dx + 1];
				}
			}
			out[y][x] = sum / 16;
		}
	}
	ENTER(4);
	for (int y = 0; y < H; y++) {
		TURN(4);
		ENTER(5);
		for (int x = 0; x < W; x++) {
			TURN(5);
			image[y][x] = out[y][x] > 99 ? 99 : out[y][x];
		}
	}
}
int main(void)
{
	for (int i = 0; i < H * W; i++)
		image[i / W][i % W] = random_number() % 256;
	run();
	report();
	return out[1][1] == 0;
}
