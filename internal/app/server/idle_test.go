package server

import (
	"context"
	"runtime"
	"testing"
	"testing/fstest"
	"time"

	"github.com/isobath/isobath/internal/base/parallel"
)

// What answers left behind goes back to the system when nobody asks any more,
// once for each time that somebody did.
func TestMemoryIsGivenBack(t *testing.T) {
	s, err := New(Options{Token: "t", Assets: fstest.MapFS{"index.html": {Data: []byte("page")}}, Index: "index.html"})
	if err != nil {
		t.Fatal(err)
	}
	s.idle.after = 20 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	watching := parallel.Start(ctx, s.idle.watch)
	defer func() {
		cancel()
		if err := watching.Wait(); err != nil {
			t.Error(err)
		}
	}()
	const size = 256 << 20
	garbage := make([]byte, size)
	for i := 0; i < len(garbage); i += 4096 {
		garbage[i] = 1
	}
	runtime.KeepAlive(garbage)
	garbage = nil
	before := held()
	if before < size {
		t.Fatalf("only %d MB are held before", before>>20)
	}
	s.idle.ask()
	for end := time.Now().Add(time.Minute); held() > before-size/2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d MB are still held", held()>>20)
		}
	}
	if s.idle.asked.Load() != 0 {
		t.Error("it would be given back again though nobody asked")
	}
}

// held is how much memory of the heap the system has not got back.
func held() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapSys - m.HeapReleased)
}
