package perfdata

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/spe/packets"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/perfdata/perfsynth"
)

// seeds are small files of every kind of container and hardware.
func seeds(t testing.TB) [][]byte {
	var out [][]byte
	for _, opt := range containers {
		out = append(out, synth(t, opt, []perfsynth.Event{memEvent("loads", 1), memEvent("stores", 2)}, func(w *perfsynth.Writer) {
			w.Comm(1, 5, 5, "p", true)
			w.Mmap(2, 5, 5, 0x1000, 0x1000, 0, "/bin/p")
			w.Fork(3, 6, 5, 6, 5)
			w.Sample(perfsynth.Sample{Time: 4, PID: 5, TID: 5, IP: 0x1010, Addr: 7, Weight: 9, DataSrc: 0x10668100842})
			w.Sample(perfsynth.Sample{Event: 1, Time: 3, PID: 6, TID: 6, IP: 0x1010})
			w.Lost(5, 0, 3)
			w.Throttle(6, 0, true)
			w.Feature(12, w.Names())
			w.Feature(13, append(w.Strings("0-1"), w.Strings("0", "1")...))
			w.Feature(14, []byte{1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, '0', '-', '1', 0, 0, 0, 0, 0})
			w.Feature(16, w.PMUs(map[uint32]string{4: "cpu"}, 4))
		}))
	}
	return append(out, ibsFile(t, 0, 0), speSeed(t), stackSeed(t))
}

// stackSeed has copies of the stack of a program that is on every machine.
func stackSeed(t testing.TB) []byte {
	e := memEvent("loads", 1)
	e.SampleType |= perfsynth.Callchain | perfsynth.RegsUser | perfsynth.StackUser
	e.RegsUser = 0xff0fff
	return synth(t, perfsynth.Options{}, []perfsynth.Event{e}, func(w *perfsynth.Writer) {
		w.Mmap(1, 5, 5, 0x400000, 0x100000, 0, "/bin/true")
		regs := make([]uint64, 20)
		regs[7], regs[8] = 0x7fff0000, 0x402010
		for i := range 4 {
			stack := make([]byte, 16*i)
			for at := 0; at < len(stack); at += 8 {
				binary.LittleEndian.PutUint64(stack[at:], 0x402000+uint64(at))
			}
			w.Sample(perfsynth.Sample{Misc: 2, Time: 4 + uint64(i), PID: 5, TID: 5, IP: 0x402010, Chain: []uint64{}, RegsUser: regs, Stack: stack})
		}
		w.Feature(6, w.String("x86_64"))
		w.Feature(12, w.Names())
	})
}

func speSeed(t testing.TB) []byte {
	spe := perfsynth.Event{Name: "arm_spe_0//", Type: 9, SampleType: perfsynth.IP | perfsynth.TID | perfsynth.Time | perfsynth.CPU, IDs: []uint64{1}}
	return synth(t, perfsynth.Options{}, []perfsynth.Event{spe}, func(w *perfsynth.Writer) {
		w.Record(70, 0, binary.LittleEndian.AppendUint64([]byte{4, 0, 0, 0, 0, 0, 0, 0}, 9))
		w.Auxtrace(0, 0, 5, 1, packets.Bytes(packets.Load+packets.Branch))
		w.Feature(12, w.Names())
	})
}

// FuzzContainer reads arbitrary bytes as a file.
func FuzzContainer(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, salvage bool) {
		im, err := parse(context.Background(), bytes.NewReader(data), int64(len(data)), &foreign.Options{Salvage: salvage}, folder{})
		if err != nil {
			return
		}
		for _, tab := range im.Tables {
			if tab.Rows() == 0 {
				t.Errorf("table %s has no rows", tab.Name)
			}
			if err := tab.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzRecord gives one arbitrary record of every type to a reader that knows
// events with every field.
func FuzzRecord(f *testing.F) {
	for typ := range uint32(84) {
		f.Add(typ, uint16(2), uint64(everyField), uint64(0x1f), make([]byte, 96), false)
		f.Add(typ, uint16(1<<14), uint64(perfsynth.IP|perfsynth.TID|perfsynth.Time), uint64(0), bytes.Repeat([]byte{1}, 88), true)
	}
	f.Fuzz(func(t *testing.T, typ uint32, misc uint16, sampleType, readFormat uint64, body []byte, big bool) {
		if len(body) > 60000 {
			return
		}
		events := []perfsynth.Event{{Name: "ibs_op//", Type: 9, SampleType: sampleType & perfevent.SampleKnown, ReadFormat: readFormat, Flags: perfsynth.SampleIDAll, RegsUser: 7, RegsIntr: 3, BranchType: 1 << 17, IDs: []uint64{1}}}
		var buf perfsynth.Buffer
		w := perfsynth.New(&buf, perfsynth.Options{Big: big}, events...)
		w.Feature(12, w.Names())
		w.Record(typ, misc, body)
		w.Record(9, 2, body)
		if err := w.Close(); err != nil {
			return
		}
		im, err := parse(context.Background(), bytes.NewReader(buf.B), int64(len(buf.B)), &foreign.Options{Salvage: true}, folder{})
		if err == nil && im.Tables[0].Rows() > 2 && typ != recCompressed && typ != recCompressed2 && typ != recAuxtrace {
			t.Errorf("%d rows of two records", im.Tables[0].Rows())
		}
	})
}
