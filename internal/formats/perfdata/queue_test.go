package perfdata

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/formats/perfdata/perfsynth"
)

// Whatever the order of the file and wherever its rounds end, the samples come
// out as a stable sort by time gives them.
func TestQueueEqualsStableSort(t *testing.T) {
	const n = 70_000
	rng := rand.New(rand.NewPCG(3, 4))
	tests := []struct {
		name string
		time func(i int) uint64
		// round is after how many samples a round ends; 0 is never.
		round int
	}{
		{"in order, no rounds", func(i int) uint64 { return uint64(i) }, 0},
		{"in order", func(i int) uint64 { return uint64(i) }, 100},
		{"four buffers a round", func(i int) uint64 { return uint64(i/4000*4000 + i%1000*4) }, 4000},
		{"rounds that overlap", func(i int) uint64 { return uint64(i/4000*4000 + i%1000*7 + i%13) }, 4000},
		{"equal times", func(i int) uint64 { return uint64(i / 5000) }, 1000},
		{"rounds that are not true", func(i int) uint64 { return uint64(n - i) }, 1000},
		{"chaos without rounds", func(int) uint64 { return rng.Uint64N(1 << 20) }, 0},
		{"one far too late", func(i int) uint64 { return uint64(i%60_000*2 + i) }, 3000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ev := memEvent("loads", 1)
			type sample struct{ time, ip uint64 }
			var want []sample
			data := synth(t, perfsynth.Options{}, []perfsynth.Event{ev}, func(w *perfsynth.Writer) {
				for i := range n {
					x := sample{1000 + tt.time(i), 0x1000 + uint64(i)}
					want = append(want, x)
					w.Sample(perfsynth.Sample{Time: x.time, IP: x.ip, PID: 5, TID: int32ID(i), CPU: uint32(i % 3), Period: uint64(i), Weight: uint64(i % 100), DataSrc: 0x10668100842, Addr: uint64(i % 7)})
					if tt.round > 0 && i%tt.round == tt.round-1 {
						w.Round()
					}
				}
			})
			slices.SortStableFunc(want, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
			tab := mustParse(t, data).Tables[0]
			times, ips := tab.Column("time"), tab.Column("ip").Data.([]uint64)
			for i, w := range want {
				if got := uint64(times.Data.([]int64)[i]) + times.Base; got != w.time || ips[i] != w.ip {
					t.Fatalf("row %d is %d %#x, want %d %#x", i, got, ips[i], w.time, w.ip)
				}
				at := int(w.ip - 0x1000)
				if tid, cpu, period := tab.Column("tid").Float(i), tab.Column("cpu").Float(i), tab.Column("period").Float(i); int(tid) != int(int32ID(at)) || int(cpu) != at%3 || int(period) != at {
					t.Fatalf("row %d has the fields of another: tid %v, cpu %v, period %v", i, tid, cpu, period)
				}
				if addr := tab.Column("addr"); addr.Has(i) != (at%7 != 0) || addr.Data.([]uint64)[i] != uint64(at%7) {
					t.Fatalf("row %d: address %s", i, addr.Text(i))
				}
			}
		})
	}
}

func int32ID(i int) uint32 { return uint32(10 + i%5) }

// A number that does not fit in 32 bits, or in 63, comes late in the file.
func TestWideNumbers(t *testing.T) {
	for _, wide := range []uint64{5, 1 << 40, 1<<63 + 1<<62} {
		data := synth(t, perfsynth.Options{}, []perfsynth.Event{memEvent("loads", 1)}, func(w *perfsynth.Writer) {
			for i := range 3 * minQueue {
				period := uint64(i)
				if i == 3*minQueue-1 {
					period = wide
				}
				w.Sample(perfsynth.Sample{Time: uint64(i), IP: 1, Period: period})
				if i%1000 == 999 {
					w.Round()
				}
			}
		})
		c := mustParse(t, data).Tables[0].Column("period")
		for i := range c.Len() {
			want := float64(i)
			if i == c.Len()-1 {
				want = float64(wide)
			}
			if got := c.Float(i); got != want {
				t.Fatalf("row %d with a last period of %d: %v, want %v (%T)", i, wide, got, want, c.Data)
			}
		}
	}
}

// Registers become columns, named as on the machine that recorded.
func TestRegisterColumns(t *testing.T) {
	ev := memEvent("timer", 1)
	ev.SampleType |= perfsynth.RegsUser | perfsynth.RegsIntr
	ev.RegsUser, ev.RegsIntr = 1<<0|1<<7|1<<23, 1<<8
	for _, tt := range []struct {
		arch  string
		names []string
	}{
		{"x86_64", []string{"user_ax", "user_sp", "user_r15", "intr_ip"}},
		{"aarch64", []string{"user_x0", "user_x7", "user_x23", "intr_x8"}},
		{"riscv64", []string{"user_r0", "user_r7", "user_r23", "intr_r8"}},
	} {
		data := synth(t, perfsynth.Options{Big: tt.arch == "riscv64"}, []perfsynth.Event{ev}, func(w *perfsynth.Writer) {
			w.Sample(perfsynth.Sample{Time: 1, RegsUser: []uint64{11, 12, 13}, RegsIntr: []uint64{0}})
			w.Sample(perfsynth.Sample{Time: 2, RegsIntr: []uint64{15}})
			w.Feature(featArch, w.String(tt.arch))
		})
		got := rowsOf(t, mustParse(t, data).Tables[0], tt.names...)
		if want := []string{"0xb 0xc 0xd 0x0", "   0xf"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", tt.arch, got, want)
		}
	}
}
