package reftrace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/record/target"
)

// interrupted has a region that is alone, and one in which other code of the same
// functions runs: that of a thread, as often as both give way, or of a handler.
const interrupted = `#include <pthread.h>
#include <csignal>
#include <unistd.h>
static volatile int sum[2], stop;
static void yield() { long r; asm volatile("syscall" : "=a"(r) : "a"(24) : "rcx", "r11", "memory"); }
static __attribute__((noinline)) void work(int who) {
	for (int i = 0; i < 3; i++)
		sum[who] += i;
	yield();
}
static void *other(void *p) { while (!stop) work(1); return p; }
static void handler(int) { work(1); }
static long pid;
static void interrupt() { long r; asm volatile("syscall" : "=a"(r) : "a"(62), "D"(pid), "S"(SIGUSR1) : "rcx", "r11", "memory"); }
extern "C" __attribute__((noinline)) void alone() { for (int i = 0; i < 50; i++) work(0); }
extern "C" __attribute__((noinline)) void beside() { for (int from = sum[1]; sum[1] == from; ) work(0); } // until it ran
extern "C" __attribute__((noinline)) void handled() { for (int i = 0; i < 9; i++) { work(0); if (i == 3) interrupt(); } }
int main() {
	alone();
	pid = getpid();
	std::signal(SIGUSR1, handler);
	handled();
	pthread_t t;
	pthread_create(&t, nullptr, other, nullptr);
	while (sum[1] == 0)
		yield();
	beside();
	stop = 1;
	return pthread_join(t, nullptr);
}
`

// Valgrind does not tell whose instructions it lists: a way through the code is made
// of those of one thread alone.
func TestHeardWay(t *testing.T) {
	if testing.Short() {
		t.Skip("records a program three times")
	}
	test.Peer(t, "valgrind", "valgrind")
	file := filepath.Join(t.TempDir(), "interrupted.cpp")
	if err := os.WriteFile(file, []byte(interrupted), 0o666); err != nil {
		t.Fatal(err)
	}
	exe := build(t, []string{"-O1", "-pthread", "-static"}, file) // so that all of its code is known
	for region, kept := range map[string]bool{"alone": true, "beside": false, "handled": false} {
		rec := record(t, Options{Command: []string{exe}, Region: target.Region{Function: region}, Backend: Valgrind, Thread: FirstThread, Flow: true})
		said := slices.ContainsFunc(rec.Notes, func(s string) bool { return strings.Contains(s, lostOther) })
		if (rec.Flow != nil) != kept || said == kept {
			t.Errorf("%s: a way %v, notes %q", region, rec.Flow != nil, rec.Notes)
		}
	}
}
