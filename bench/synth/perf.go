package synth

import (
	"math/rand/v2"
	"os"

	"github.com/isobath/isobath/internal/formats/perfdata/perfsynth"
)

// Levels that occur in the samples, as data_src has them, with their latency.
var perfSources = []struct{ word, latency uint64 }{
	{0x10268100142, 7}, {0x10268100142, 9}, {0x11868100242, 40}, {0x10468100442, 16}, {0x10668100842, 60}, {0x10650100842, 144}, {0x11a48101042, 300},
}

// WritePerf writes a perf.data of about so many bytes as `perf mem record -a`
// makes it: loads and stores of four CPUs, each with its own ring buffer, in
// rounds; mappings, threads, and the features of the machine. It returns the
// number of samples.
func WritePerf(f *os.File, size int64) (int, error) {
	const st = perfsynth.IP | perfsynth.TID | perfsynth.Time | perfsynth.Addr | perfsynth.CPU | perfsynth.Period | perfsynth.Identifier | perfsynth.DataSrc | perfsynth.WeightStruct | perfsynth.PhysAddr
	loads := perfsynth.Event{Name: "cpu/mem-loads,ldlat=30/P", Type: 4, Config: 0x1cd, Config1: 30, SampleType: st, Flags: perfsynth.SampleIDAll, IDs: []uint64{1, 2, 3, 4}}
	stores := loads
	stores.Name, stores.Config, stores.Config1, stores.IDs = "cpu/mem-stores/P", 0x2cd, 0, []uint64{5, 6, 7, 8}
	out := &buffered{f: f}
	w := perfsynth.New(out, perfsynth.Options{}, loads, stores)
	for tid := range uint32(8) {
		w.Comm(0, 100, 100+tid, "solver", false)
	}
	w.Mmap(0, 100, 100, 0x400000, 0x200000, 0, "/opt/bench/solver")
	w.Mmap(0, 100, 100, 0x7f0000000000, 1<<30, 0, "//anon")
	rng := rand.New(rand.NewPCG(7, 8))
	samples := 0
	for out.n < size {
		start := uint64(1e9) + uint64(samples)*250
		for cpu := range uint32(4) {
			for i := range uint64(4096) {
				src := perfSources[rng.IntN(len(perfSources))]
				x := perfsynth.Sample{ID: uint64(cpu) + 1, IP: 0x401000 + rng.Uint64N(5000)*4, PID: 100, TID: 100 + 2*cpu + uint32(i>>9&1), CPU: cpu, Time: start + i*1000 + uint64(cpu)*7,
					Addr: 0x7f0000000000 + rng.Uint64N(1<<29), Period: 1, Weight: src.latency + rng.Uint64N(20), DataSrc: src.word, Phys: 0x100000000 + rng.Uint64N(1<<30)}
				if i%4 == 0 {
					x.Event, x.ID, x.Weight, x.DataSrc = 1, uint64(cpu)+5, 0, 0x229080144
				}
				w.Sample(x)
				samples++
			}
		}
		w.Round()
	}
	w.Feature(3, w.String("bench"))
	w.Feature(7, []byte{4, 0, 0, 0, 4, 0, 0, 0})
	w.Feature(12, w.Names())
	w.Feature(13, append(w.Strings("0-3"), w.Strings("0", "1", "2", "3")...))
	if err := w.Close(); err != nil {
		return 0, err
	}
	return samples, out.flush()
}

// buffered is a file that is written in large pieces, whose beginning may be
// changed in the end.
type buffered struct {
	f   *os.File
	buf []byte
	n   int64
}

func (b *buffered) Write(p []byte) (int, error) {
	b.buf = append(b.buf, p...)
	b.n += int64(len(p))
	if len(b.buf) < 1<<20 {
		return len(p), nil
	}
	return len(p), b.flush()
}

func (b *buffered) flush() error {
	_, err := b.f.Write(b.buf)
	b.buf = b.buf[:0]
	return err
}

func (b *buffered) WriteAt(p []byte, off int64) (int, error) {
	if err := b.flush(); err != nil {
		return 0, err
	}
	return b.f.WriteAt(p, off)
}
