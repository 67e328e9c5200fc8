package perfdata

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/code/spe/packets"
	"github.com/isobath/isobath/internal/formats/perfdata/perfsynth"
)

// A file with a trace of SPE: threads from context packets or from what the
// CPU ran, times by the clock of the file, packets cut between pieces.
func TestSPEFile(t *testing.T) {
	spe := perfsynth.Event{Name: "arm_spe_0/ts_enable=1/", Type: 9, Config2: 30, SampleType: perfsynth.IP | perfsynth.TID | perfsynth.Time | perfsynth.CPU | perfsynth.Identifier, Flags: perfsynth.SampleIDAll, IDs: []uint64{1}}
	dummy := spe
	dummy.Name, dummy.Type, dummy.IDs = "dummy:u", 1, []uint64{2}
	for _, opt := range []perfsynth.Options{{}, {Pipe: true}, {Zstd: 81}} {
		data := synth(t, opt, []perfsynth.Event{spe, dummy}, func(w *perfsynth.Writer) {
			le := binary.LittleEndian
			feature := func() {
				w.Feature(12, w.Names())
				w.Feature(9, w.String("0x00000000410fd0c0"))
				w.Feature(16, w.PMUs(map[uint32]string{9: "arm_spe_0"}, 9))
			}
			if opt.Pipe {
				feature()
			}
			w.Record(70, 0, le.AppendUint64(le.AppendUint64([]byte{4, 0, 0, 0, 0, 0, 0, 0}, 9), 1))
			// Ten nanoseconds a tick, from time 1000 on.
			conv := le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, 1), 20), 1000)
			w.Record(79, 0, append(conv, make([]byte, 24)...))
			w.Comm(0, 0x5f00, 0x5f80, "worker", false)
			w.Comm(0, 77, 78, "other", false)
			// CPU 3 switches to thread 78.
			w.FlushZstd()
			w.Record(15, 0, append(make([]byte, 8), w.Trailer(0, 77, 78, 2000, 3)...))
			w.FlushZstd()
			trace := packets.Bytes(packets.Load + packets.Branch)
			w.Auxtrace(0, 0, ^uint32(0), 3, trace[:30])
			w.Auxtrace(30, 0, ^uint32(0), 3, trace[30:])
			w.Auxtrace(0, 1, ^uint32(0), 3, packets.Bytes(packets.Altra))
			if !opt.Pipe {
				feature()
			}
		})
		im := mustParse(t, data)
		got := rowsOf(t, im.Tables[0], "pid", "tid", "comm", "cpu", "ip", "addr", "phys", "op", "level", "snoop", "tlb", "latency", "spe_issue_lat", "spe_translation_lat", "spe_source", "spe_llc_miss", "spe_l1d_access", "event")
		want := []string{
			"24320 24448 worker 3 0xffffba66eda1c2d0 0xffff0e3703096b28  load L1 none hit 12 4 1 0 0 1 arm_spe_0/ts_enable=1/",
			"77 78 other 3  0xffff403ef1d79e50 0x403f71d79e50 load Local Peer Cache peer hit 501 337 1 12 1 1 arm_spe_0/ts_enable=1/",
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%+v\n%s", opt, diff)
		}
		if c := im.Tables[0].Column("time"); c.Base != 1000+10*44731163950 {
			t.Errorf("first time %d, want %d", c.Base, uint64(1000+10*44731163950))
		}
		all := strings.Join(im.Warnings, "\n")
		for _, want := range []string{"2 of 3 records", "at least 30 cycles"} {
			if !strings.Contains(all, want) {
				t.Errorf("%q is not in the warnings: %s", want, all)
			}
		}
	}
}

func TestClock(t *testing.T) {
	c := clock{shift: 10, mult: 2048, zero: 5, known: true}
	for ticks, want := range map[uint64]uint64{0: 5, 1: 7, 1024: 2053, 1 << 50: 5 + 1<<51} {
		if got := c.time(ticks); got != want {
			t.Errorf("time(%d) = %d, want %d", ticks, got, want)
		}
	}
	if got := fmt.Sprint((&clock{}).time(9)); got != "9" {
		t.Errorf("without a clock %s, want the ticks", got)
	}
}
