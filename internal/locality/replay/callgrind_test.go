//go:build linux && amd64

package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/machine/cachesim"
)

// callUnit is what callgrind rounds touched bytes to: a line has 32 units.
const callUnit = 2

// TestCallgrindUse compares the bytes that were fetched and never touched, by
// instruction, with callgrind's spatial loss of the first level.
func TestCallgrindUse(t *testing.T) {
	if testing.Short() {
		t.Skip("runs valgrind")
	}
	valgrind := test.Peer(t, "valgrind", "valgrind")
	dir := test.Shared(t, "locality/programs")
	names := []string{"aos_soa_a", "list_a", "hash_a", "reorder_a", "quiet_random"}
	if os.Getenv("ISOBATH_ALL_GEOMETRIES") == "" {
		names = names[:2]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compareCallgrind(t, valgrind, buildStatic(t, filepath.Join(dir, name+".c"), "-O1"))
		})
	}
}

func compareCallgrind(t *testing.T, valgrind, exe string) {
	t.Helper()
	got := ourLoss(t, valgrind, exe)
	want := callgrindLoss(t, valgrind, exe)
	seen, total := 0, int64(0)
	for key, n := range want {
		if n == 0 || !ofProgram(t, exe, key) {
			continue
		}
		total += n
		if seen++; got[key] != n {
			t.Errorf("%s: %d bytes lost, callgrind %d", key, got[key], n)
		}
	}
	if seen < 5 || total < 200 {
		t.Errorf("callgrind has %d instructions that lose %d bytes", seen, total)
	}
}

// ofProgram reports whether an instruction is the program's own. Of a few dozen
// in the C library callgrind does not see the long no-ops that lackey fetches, so
// that code lines are used less there.
func ofProgram(t *testing.T, exe, key string) bool {
	t.Helper()
	p, err := symbol.OpenProgram(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	pc, err := strconv.ParseUint(key, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main", "work", "prepare", "loc_alloc", "loc_object", "find", "next", "insert", "within", "uniform"} {
		if at, err := p.Function(name); err == nil && at.Contains(pc) {
			return true
		}
	}
	return false
}

// ourLoss runs the references through Usage, both first-level caches.
func ourLoss(t *testing.T, valgrind, exe string) map[string]int64 {
	t.Helper()
	var pcs []uint64
	index := map[uint64]uint32{}
	loss := map[string]int64{}
	left := func(owner uint32, used, _ int) {
		loss[fmt.Sprintf("%#x", pcs[owner])] += 64 - int64(used)
	}
	g := cachesim.Geometry{Size: 32768, Ways: 8, Line: 64}
	i1, d1 := cachesim.NewUsage(g, left), cachesim.NewUsage(g, left)
	now := uint32(0)
	rounded := func(c *cachesim.Usage, addr uint64, size uint32) {
		end := addr + uint64(min(size, 64))
		addr &^= callUnit - 1
		end = (end + callUnit - 1) &^ (callUnit - 1)
		c.Access(addr, uint32(end-addr), now)
	}
	lackeyTrace(t, valgrind, exe, func(kind byte, addr uint64, size uint32) {
		if kind != 'I' {
			rounded(d1, addr, size)
			return
		}
		i, ok := index[addr]
		if !ok {
			i = uint32(len(pcs))
			index[addr] = i
			pcs = append(pcs, addr)
		}
		now = i
		rounded(i1, addr, size)
	})
	i1.Flush()
	d1.Flush()
	return loss
}

func callgrindLoss(t *testing.T, valgrind, exe string) map[string]int64 {
	t.Helper()
	file := exe + ".call"
	err := command(valgrind, exe, "--tool=callgrind", "--cache-sim=yes", "--cacheuse=yes", "--skip-plt=no", "--dump-instr=yes", "--compress-strings=no", "--compress-pos=no",
		"--I1=32768,8,64", "--D1=32768,8,64", "--LL=262144,8,64", "--callgrind-out-file="+file, "--log-file=/dev/null").Run()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	at := -1
	skip := false
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "events:"):
			at = slices.Index(words, "SpLoss1") // positions are an address and a line
		case strings.HasPrefix(line, "calls="):
			skip = true // the next line is the cost of the call as a whole
		case strings.HasPrefix(line, "0x"):
			if !skip && at > 0 && at+1 < len(words) {
				n, err := strconv.ParseInt(words[at+1], 10, 64)
				if err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				out[words[0]] += n
			}
			skip = false
		}
	}
	if at < 0 {
		t.Fatal("callgrind wrote no SpLoss1")
	}
	return out
}
