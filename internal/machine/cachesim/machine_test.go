package cachesim

import (
	"slices"
	"strings"
	"testing"
)

// sources runs accesses to whole lines on CPU 0 and returns what answered.
func sources(t *testing.T, cfg Config, lines ...uint64) string {
	t.Helper()
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		got = append(got, m.Access(Ref{Addr: l * 64, Width: 8}).Source.String())
	}
	return strings.Join(got, " ")
}

// The caches of small have 4, 4 and 12 sets of 2, 4 and 4 ways: lines that
// differ by 12 fall into one set of each.
func TestKnownSequences(t *testing.T) {
	tests := []struct {
		name   string
		p2, p3 Policy
		lines  []uint64
		want   string
	}{
		{"cold, then hit", NonInclusive, NonInclusive,
			[]uint64{0, 0}, "Local RAM L1"},
		{"third line of a set pushes the first to L2", NonInclusive, NonInclusive,
			[]uint64{0, 12, 24, 0}, "Local RAM Local RAM Local RAM L2"},
		{"a use saves the first line", NonInclusive, NonInclusive,
			[]uint64{0, 12, 0, 24, 0, 12}, "Local RAM Local RAM L1 Local RAM L1 L2"},
		{"fifth line of a set misses all", NonInclusive, NonInclusive,
			[]uint64{0, 12, 24, 36, 48, 0}, "Local RAM Local RAM Local RAM Local RAM Local RAM Local RAM"},
		// L1 keeps 0 in use, so L3 sees it once: the fifth line makes L3 drop
		// it, and an inclusive L3 takes it from L1.
		{"inclusive L3 takes a hot line along", NonInclusive, Inclusive,
			[]uint64{0, 12, 0, 24, 0, 36, 0, 48, 0}, "Local RAM Local RAM L1 Local RAM L1 Local RAM L1 Local RAM Local RAM"},
		{"non-inclusive L3 leaves it", NonInclusive, NonInclusive,
			[]uint64{0, 12, 0, 24, 0, 36, 0, 48, 0}, "Local RAM Local RAM L1 Local RAM L1 Local RAM L1 Local RAM L1"},
		// An exclusive L2 holds what L1 evicted: 2 + 4 lines fit.
		{"exclusive L2 adds to L1", Exclusive, NonInclusive,
			[]uint64{0, 12, 24, 36, 48, 60, 0, 12}, "Local RAM Local RAM Local RAM Local RAM Local RAM Local RAM L2 L2"},
		{"exclusive L3 gets the victims of L2", NonInclusive, Exclusive,
			[]uint64{0, 12, 24, 36, 48, 0, 0}, "Local RAM Local RAM Local RAM Local RAM Local RAM L3 L1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sources(t, small(tt.p2, tt.p3), tt.lines...); got != tt.want {
				t.Errorf("lines %v:\n got %s\nwant %s", tt.lines, got, tt.want)
			}
		})
	}
}

// step is one access to line 0 and what it must yield.
type step struct {
	cpu   int
	store bool
	src   Source
	snoop Snoop
}

func TestSharing(t *testing.T) {
	// Two sockets of two cores: CPUs 0 and 1 in socket 0, CPUs 2 and 3 in
	// socket 1. CPU 0 touches first, so the page is at home in socket 0.
	tests := []struct {
		name  string
		steps []step
	}{
		{"read by a neighbour", []step{{0, false, LocalRAM, SnoopNone}, {1, false, L3, SnoopHit}, {0, false, L1, SnoopNone}}},
		{"written by a neighbour", []step{{0, true, LocalRAM, SnoopNone}, {1, false, L3, SnoopHitM}, {0, false, L1, SnoopNone}}},
		{"taken by a neighbour", []step{{0, true, LocalRAM, SnoopNone}, {1, true, L3, SnoopHitM}, {0, false, L3, SnoopHitM}}},
		{"clean copy in the other socket", []step{{0, false, LocalRAM, SnoopNone}, {2, false, RemoteCache, SnoopHit}, {3, false, L3, SnoopNone}}},
		{"modified in the other socket", []step{{0, true, LocalRAM, SnoopNone}, {2, false, RemoteCache, SnoopHitM}, {2, false, L1, SnoopNone}}},
		{"false sharing", []step{{0, true, LocalRAM, SnoopNone}, {2, true, RemoteCache, SnoopHitM}, {0, true, RemoteCache, SnoopHitM}, {2, true, RemoteCache, SnoopHitM}}},
		{"store to a shared copy", []step{{0, false, LocalRAM, SnoopNone}, {2, false, RemoteCache, SnoopHit}, {0, true, RemoteCache, SnoopHit}, {0, true, L1, SnoopNone}}},
		{"store to an own copy", []step{{0, false, LocalRAM, SnoopNone}, {0, true, L1, SnoopNone}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := small(NonInclusive, Inclusive)
			cfg.CPUs = Grid(2, 2, 1)
			m, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range tt.steps {
				got := m.Access(Ref{CPU: s.cpu, Width: 8, Store: s.store, Now: int64(i) * 1000})
				if got.Source != s.src || got.Snoop != s.snoop {
					t.Errorf("step %d, CPU %d, store %v: %v, snoop %d; want %v, %d", i, s.cpu, s.store, got.Source, got.Snoop, s.src, s.snoop)
				}
			}
		})
	}
}

func TestFirstTouch(t *testing.T) {
	cfg := small(NonInclusive, Inclusive)
	cfg.CPUs = Grid(2, 2, 1)
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if h := m.Home(0x2000); h != -1 {
		t.Errorf("home of an untouched page is %d, want -1", h)
	}
	m.Access(Ref{CPU: 3, Addr: 0x2fff, Width: 1})
	m.Access(Ref{CPU: 0, Addr: 0x2000, Width: 8})
	m.Access(Ref{CPU: 0, Addr: 0x3000, Width: 8})
	for addr, want := range map[uint64]int{0x2000: 1, 0x2fff: 1, 0x3000: 0, 0x1fff: -1} {
		if got := m.Home(addr); got != want {
			t.Errorf("home of %#x is %d, want %d", addr, got, want)
		}
	}
	if got := m.Access(Ref{CPU: 1, Addr: 0x2400, Width: 8}).Source; got != RemoteRAM {
		t.Errorf("CPU 1 reads a page of node 1 from %v, want Remote RAM", got)
	}
}

func TestTranslation(t *testing.T) {
	m, err := New(small(NonInclusive, NonInclusive))
	if err != nil {
		t.Fatal(err)
	}
	var got []Translation
	// DTLB: 4 sets of 2; pages 0, 4, 8 share one. STLB: 4 sets of 4.
	for _, page := range []uint64{0, 0, 4, 8, 0, 8, 12, 16, 0} {
		got = append(got, m.Access(Ref{Addr: page * 4096, Width: 8}).TLB)
	}
	want := []Translation{TLBWalk, TLBL1, TLBWalk, TLBWalk, TLBL2, TLBL1, TLBWalk, TLBWalk, TLBL2}
	if !slices.Equal(got, want) {
		t.Errorf("translations %v, want %v", got, want)
	}
}

func TestLineOnItsWay(t *testing.T) {
	cfg := small(NonInclusive, NonInclusive)
	cfg.FillBuffers = 2
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	first := m.Access(Ref{Addr: 0, Width: 8, Now: 100})
	soon := m.Access(Ref{Addr: 8, Width: 8, Now: 150})
	later := m.Access(Ref{Addr: 16, Width: 8, Now: 600})
	if first.Source != LocalRAM || first.Latency != 230 {
		t.Errorf("first access: %+v, want Local RAM after 200 and a walk of 30", first)
	}
	if soon.Source != LFB || soon.Latency != 180 {
		t.Errorf("50 cycles later: %+v, want LFB with the 180 cycles that are left", soon)
	}
	if later.Source != L1 || later.Latency != 4 {
		t.Errorf("after it landed: %+v, want L1, 4 cycles", later)
	}
}

func TestOverTheEndOfALine(t *testing.T) {
	m, err := New(small(NonInclusive, NonInclusive))
	if err != nil {
		t.Fatal(err)
	}
	m.Access(Ref{Addr: 0, Width: 8})
	if got := m.Access(Ref{Addr: 60, Width: 8}).Source; got != LocalRAM {
		t.Errorf("an access whose second half is cold is answered by %v, want Local RAM", got)
	}
	if got := m.Access(Ref{Addr: 60, Width: 8}).Source; got != L1 {
		t.Errorf("again: %v, want L1", got)
	}
}

// TestQueue checks the mean waiting time against the formula by hand: service
// 4, half load: 4 · 0.5 / (2 · 0.5) = 2 cycles.
func TestQueue(t *testing.T) {
	q := queue{service: 4}
	for i := range int64(1024) { // 1024 lines of 4 cycles in 8192
		if w := q.pass(i * 8); w != 0 {
			t.Fatalf("line %d waits %d/16 cycles for an idle server", i, w)
		}
	}
	if w := q.pass(8192); w != 32 {
		t.Errorf("after a window of half load a line waits %d/16 cycles, want 32", w)
	}
	if w := q.pass(8192 * 9); w != 0 {
		t.Errorf("after idle windows a line waits %d/16 cycles, want 0", w)
	}
}

func TestSpreadHasItsMean(t *testing.T) {
	m, err := New(TwoSocket())
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	const n = 100000
	for range n {
		sum += m.spread(16 * 100)
	}
	if mean := sum / n; mean < 97 || mean > 103 {
		t.Errorf("mean of %d draws is %d, want 100", n, mean)
	}
}

func TestSameTwice(t *testing.T) {
	run := func() (all []Result) {
		m, err := New(TwoSocket())
		if err != nil {
			t.Fatal(err)
		}
		now := int64(0)
		for i := range uint64(50000) {
			r := m.Access(Ref{CPU: int(i*7) % 32, Addr: i * 712 % (8 << 20), Width: 8, Store: i%5 == 0, Now: now})
			now += int64(r.Latency) / 8
			all = append(all, r)
		}
		return all
	}
	if !slices.Equal(run(), run()) {
		t.Error("two runs of the same accesses differ")
	}
}

func TestConfigErrors(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"no CPUs", func(c *Config) { c.CPUs = nil }, "no CPUs"},
		{"line size", func(c *Config) { c.LineSize = 48 }, "line size 48"},
		{"page size", func(c *Config) { c.PageSize = 32 }, "page size 32"},
		{"no caches", func(c *Config) { c.Levels = nil }, "0 cache levels"},
		{"odd size", func(c *Config) { c.Levels[1].Size = 1000 }, "L2: 1000 bytes"},
		{"private behind shared", func(c *Config) { c.Levels[1].Shared, c.Levels[2].Shared = true, false }, "L3 is private behind"},
		{"L1 with a policy", func(c *Config) { c.Levels[0].Policy = Inclusive }, "L1 must be private"},
		{"core in two sockets", func(c *Config) { c.CPUs = []CPU{{0, 0}, {0, 1}} }, "core 0 is in sockets 0 and 1"},
		{"no TLB", func(c *Config) { c.STLB = TLB{} }, "TLB of 0 entries"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := small(NonInclusive, NonInclusive)
			tt.change(&cfg)
			if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}
