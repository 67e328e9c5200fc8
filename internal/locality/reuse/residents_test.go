package reuse

import (
	"testing"

	"github.com/isobath/isobath/internal/machine/cachesim"
)

// TestUseEqualsACacheThatSearches holds that lines found by what is known of
// them are fetched for the same instructions, and used as much, as in a cache
// that looks through its sets.
func TestUseEqualsACacheThatSearches(t *testing.T) {
	for i, g := range []cachesim.Geometry{{Size: 2048, Ways: 2, Line: 64}, {Size: 4096, Ways: 8, Line: 64}, {Size: 3 * 1024, Ways: 1, Line: 64},
		{Size: 48 * 64, Ways: 4, Line: 64}, {Size: 2048, Ways: 64, Line: 32}, {Size: 8192, Ways: 4, Line: 256},
		{Size: 64, Ways: 1, Line: 64}} {
		for seed := range uint64(6) {
			all := randomTrace(seed+uint64(i)*100, 6000, 3)
			type use [2]uint64 // lines fetched, bytes used
			want, got := map[Code]use{}, map[Code]use{}
			codes := []Code{}
			caches := map[uint32]*cachesim.Usage{}
			for _, r := range all {
				if caches[r.Thread] == nil {
					caches[r.Thread] = cachesim.NewUsage(g, func(owner uint32, bytes, _ int) {
						c := codes[owner]
						want[c] = use{want[c][0] + 1, want[c][1] + uint64(bytes)}
					})
				}
				codes = append(codes, Code{r.PC, r.Place, r.Thread})
				caches[r.Thread].Access(r.Addr, r.Size, uint32(len(codes)-1))
			}
			for _, c := range caches {
				c.Flush()
			}
			for _, c := range measure(all, Options{Line: g.Line, Cache: g}).Code {
				if c.Fetched > 0 {
					got[c.Code] = use{c.Fetched, c.Used}
				}
			}
			diff(t, "use of a cache", want, got)
		}
	}
}

// TestStridesEqualTheirDefinition holds counts, and places among equals, of
// strides that come in runs, alternate, or never come again.
func TestStridesEqualTheirDefinition(t *testing.T) {
	for seed := range uint64(20) {
		var s Strides
		counts := map[int64]uint64{}
		var seen []int64
		last := uint64(0)
		for i, r := range randomTrace(seed, 3000, 1) {
			addr := r.Addr
			if i%100 < 60 { // a run, in turns of one, two and six strides
				addr = last + 8*uint64(i%(1+int(seed)%6))
			}
			s.Add(addr)
			if d := int64(addr - last); i > 0 {
				if counts[d]++; counts[d] == 1 {
					seen = append(seen, d)
				}
			}
			last = addr
		}
		if s.Total() != 2999 {
			t.Errorf("seed %d: %d strides", seed, s.Total())
		}
		diff(t, "strides in order", seen, s.keys)
		got := map[int64]uint64{}
		for _, k := range s.Top(len(seen)) {
			got[k.Bytes] = k.Count
		}
		diff(t, "strides", counts, got)
	}
}
