package gaps_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/gaps"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/perfdata"
	"github.com/isobath/isobath/internal/formats/perfdata/perfsynth"
)

var update = flag.Bool("update", false, "write testdata/lossy.data anew")

const ms = 1_000_000

// lossy is a recording of 400 samples of four CPUs in a second, written by code
// that shares nothing with the reader. CPU 0 loses 42 records up to 300 ms and
// CPU 1 another 7 up to 700 ms, CPU 1 is throttled from 500 to 600 ms, and from
// 800 ms on the counter runs a quarter of the time.
func lossy(t *testing.T) []byte {
	t.Helper()
	var buf perfsynth.Buffer
	w := perfsynth.New(&buf, perfsynth.Options{}, perfsynth.Event{
		Name: "cpu/mem-loads,ldlat=30/P", Type: 4, Config: 0x1cd, Config1: 30, Period: 1000, ReadFormat: 3, Flags: perfsynth.SampleIDAll, IDs: []uint64{1},
		SampleType: perfsynth.IP | perfsynth.TID | perfsynth.Time | perfsynth.Addr | perfsynth.Read | perfsynth.CPU | perfsynth.Identifier | perfsynth.DataSrc | perfsynth.Weight,
	})
	for i := range uint64(400) {
		at, cpu := 1_000_000_000+i*ms*5/2, uint32(i%4)
		running := uint64(1000)
		if i >= 320 {
			running = 250
		}
		switch i {
		case 120:
			w.Lost(at, 0, 42)
		case 200:
			w.Throttle(at, 1, true)
		case 240:
			w.Throttle(at, 1, false)
		case 280:
			w.Lost(at, 1, 7)
		}
		w.Sample(perfsynth.Sample{IP: 0x401000 + i%8, PID: 9, TID: 10 + cpu, Time: at + 1, CPU: cpu, Addr: 0x7f0000000000 + 64*(i%64), Weight: 30 + i%300, DataSrc: 0x68100142,
			Read: []uint64{i, 1000, running}})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.B
}

// The file that the tests of the page open is this recording, and the gaps of
// it are those that were written.
func TestRecording(t *testing.T) {
	file := filepath.Join("testdata", "lossy.data")
	want := lossy(t)
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%s is stale: run 'go test ./internal/data/gaps -update' (%v)", file, err)
	}
	in, err := foreign.Look(file)
	if err != nil {
		t.Fatal(err)
	}
	read, err := perfdata.Format.Samples(context.Background(), in, &foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	samples, lost := read.Tables[0], read.Tables[1]
	if samples.Rows() != 400 || lost.Name != "gaps" {
		t.Fatalf("%d samples and a table %s", samples.Rows(), lost.Name)
	}
	// Times count from the first record; a loss lies between the sample before
	// it on its CPU and the record that tells of it.
	first := 1.0
	wanted := []gaps.Gap{
		{Kind: "lost", From: 290*ms + 1 - first, To: 300*ms - first, Times: 1, Records: 42, CPUs: []int{0}},
		{Kind: "throttled", From: 500*ms - first, To: 600*ms - first, Times: 1, CPUs: []int{1}},
		{Kind: "lost", From: 692.5*ms + 1 - first, To: 700*ms - first, Times: 1, Records: 7, CPUs: []int{1}},
		{Kind: gaps.Multiplexed, From: 800*ms + 1 - first, To: 997.5*ms + 1 - first, Times: 80, CPUs: []int{0, 1, 2, 3}, Counting: 0.25},
	}
	found, err := gaps.Find(t.Context(), samples, lost)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, found); diff != "" {
		t.Error(diff)
	}
}
