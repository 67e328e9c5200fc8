//go:build linux && amd64

package step

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/target"
)

// wandering has a function, work, whose goroutine goes on in another thread, because
// another goroutine takes its own for good; whose stack grows and moves; and that
// allocates, which the runtime does on other stacks. It stores 40 words of table; noise
// is what other goroutines store meanwhile. It ends with 7, or with 8 if work stayed in
// its thread.
const wandering = `package main

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

var table, noise [64]int64
var ping, pong = make(chan int), make(chan int)
var over atomic.Bool
var kept []byte

func deep(n int) int64 {
	var room [64]int64
	room[n%64] = int64(n)
	if n == 0 {
		return room[0]
	}
	return deep(n-1) + room[n%64]
}

//go:noinline
func work(meet bool) bool {
	for i := range 20 {
		table[i] = int64(i)
	}
	before := syscall.Gettid()
	if meet {
		ping <- 1
		<-pong
	}
	after := syscall.Gettid()
	if deep(40) < 0 {
		return false
	}
	kept = make([]byte, 40000)
	for i := range 20 {
		table[20+i] = int64(i)
	}
	return before != after
}

func taker() {
	<-ping
	runtime.LockOSThread()
	pong <- 1
	for !over.Load() {
		noise[3]++
	}
}

func main() {
	runtime.GOMAXPROCS(3)
	var all sync.WaitGroup
	status := 7
	switch os.Args[1] {
	case "moves":
		all.Go(taker)
		all.Go(func() {
			if !work(true) {
				status = 8
			}
			over.Store(true)
		})
	case "many":
		for range 3 {
			all.Go(func() { work(false); work(false) })
		}
	}
	all.Wait()
	os.Exit(status)
}
`

// A region of a Go program is what its goroutine does, in whichever thread.
func TestGoroutines(t *testing.T) {
	if testing.Short() {
		t.Skip("steps through three programs")
	}
	dir := t.TempDir()
	exe := filepath.Join(dir, "wandering")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(wandering), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", exe, "main.go")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p, err := target.Open(exe)
	if err != nil || !p.Go {
		t.Fatalf("a program of Go: %+v, %v", p, err)
	}
	table, noise := objectAddr(p, "main.table"), objectAddr(p, "main.noise")
	stores := func(all []refs.Ref, bias, object uint64) map[uint32]int {
		n := map[uint32]int{}
		for _, r := range all {
			if at := r.Addr - bias; r.Op != refs.Load && at >= object && at < object+64*8 {
				n[r.Thread]++
			}
		}
		return n
	}
	t.Run("to another thread", func(t *testing.T) {
		all, res := record(t, p, target.Region{Function: "main.work"}, nil, "moves")
		if res.Exit == 8 {
			t.Log("it stayed in its thread")
		}
		if n := stores(all, res.Bias, table); len(n) != 1 || n[1] != 40 || len(stores(all, res.Bias, noise)) > 0 {
			t.Errorf("stores of the table %v, want 40 of goroutine 1; of others %v", n, stores(all, res.Bias, noise))
		}
		if !res.Left || res.Exit != 7 && res.Exit != 8 || res.Unfollowed {
			t.Errorf("exit %d, left %v, unfollowed %v", res.Exit, res.Left, res.Unfollowed)
		}
	})
	t.Run("calls of one", func(t *testing.T) {
		all, res := record(t, p, target.Region{Function: "main.work", Skip: 1, Calls: 1}, nil, "many")
		if n := stores(all, res.Bias, table); len(n) != 1 || n[1] != 40 || res.Skipped != 1 || res.Exit != 7 {
			t.Errorf("stores of the table %v, want 40 of the second call; exit %d, %d skipped", n, res.Exit, res.Skipped)
		}
	})
	t.Run("all", func(t *testing.T) {
		all, res := record(t, p, target.Region{Function: "main.work"}, func(o *Options) { o.Thread = AllThreads }, "many")
		n := stores(all, res.Bias, table)
		if len(n) != 3 || n[1] != 80 || n[2] != 80 || n[3] != 80 || res.Calls != 6 || res.Exit != 7 {
			t.Errorf("stores of the table %v, want 80 of each of three goroutines; exit %d, %d calls", n, res.Exit, res.Calls)
		}
	})
}
