package perfdata

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/perfdata/perfsynth"
)

// kernelAt is where the kernel of kernelFile was loaded.
const kernelAt = 0xffffffffa2000000

// kernelFile is a recording with samples in the kernel of a machine far away.
func kernelFile(t *testing.T, mapping string) []byte {
	return synth(t, perfsynth.Options{}, []perfsynth.Event{memEvent("loads", 1)}, func(w *perfsynth.Writer) {
		w.Mmap(0, ^uint32(0), 0, kernelAt, 0x1000000, kernelAt, mapping)
		for i, ip := range []uint64{kernelAt + 0x10, kernelAt + 0x2010, kernelAt + 0x2fff, 0xffffffffc0001008} {
			w.Sample(perfsynth.Sample{Misc: 1, Time: uint64(10 + i), PID: 5, TID: 5, IP: ip})
		}
		w.Feature(3, w.String("far.away"))
		w.Feature(12, w.Names())
	})
}

// list is the symbols of that kernel after another boot, but for the modules.
const list = `ffffffff81000000 T _text
ffffffff81000000 T _stext
ffffffff81002000 t local_name
ffffffff81002000 T do_work
ffffffff81003000 D data
ffffffff81003000 T after
ffffffffc0001000 t nvme_queue_rq	[nvme]
`

func functions(t *testing.T, im *foreign.Imported) []string {
	t.Helper()
	c := column(t, im, "function")
	var out []string
	for i := range c.Len() {
		out = append(out, c.Text(i))
	}
	return out
}

func TestKernelSymbols(t *testing.T) {
	moved := []string{"_stext", "do_work", "do_work", "[kernel]+0xffffffffc0001008"}
	dir := t.TempDir()
	file := filepath.Join(dir, "kallsyms")
	if err := os.WriteFile(file, []byte(list), 0o666); err != nil {
		t.Fatal(err)
	}
	data := kernelFile(t, kernelName+"_text")
	t.Run("a file, of another boot", func(t *testing.T) {
		im, err := parseBytes(data, foreign.Options{Kallsyms: file})
		if err != nil {
			t.Fatal(err)
		}
		if got := functions(t, im); !slices.Equal(got, moved) {
			t.Errorf("functions %q, want %q", got, moved)
		}
	})
	t.Run("beside the recording, of the same boot", func(t *testing.T) {
		recording := filepath.Join(dir, "perf.data")
		if err := os.MkdirAll(filepath.Join(recording, kernelFolder), 0o777); err != nil {
			t.Fatal(err)
		}
		same := strings.ReplaceAll(list, "ffffffff8100", "ffffffffa200")
		for name, text := range map[string]string{mainFile: string(data), kernelFolder + "/kallsyms": same} {
			if err := os.WriteFile(filepath.Join(recording, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		im := importFile(t, recording, foreign.Options{})
		want := append(slices.Clone(moved[:3]), "nvme_queue_rq")
		if got := functions(t, im); !slices.Equal(got, want) {
			t.Errorf("functions %q, want %q", got, want)
		}
		if got := column(t, im, "module").Text(3); got != "[nvme]" {
			t.Errorf("module %q, want [nvme]", got)
		}
	})
	t.Run("none", func(t *testing.T) {
		im := mustParse(t, data)
		if all := strings.Join(im.Warnings, "\n"); !strings.Contains(all, "functions of the kernel have no names") || !strings.Contains(all, "--kallsyms") {
			t.Errorf("warnings do not say what is missing: %s", all)
		}
	})
	for name, text := range map[string]string{"hidden": "0000000000000000 T _text\n", "empty": "", "no anchor": "ffffffff81000100 T do_work\n"} {
		t.Run(name, func(t *testing.T) {
			bad := filepath.Join(dir, "bad")
			if err := os.WriteFile(bad, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := parseBytes(data, foreign.Options{Kallsyms: bad}); err == nil {
				t.Error("it was taken")
			}
		})
	}
}

// Every function of the kernel in recorded stacks has the name that perf script
// gives it.
func TestKernelNamesEqualPerfScript(t *testing.T) {
	perf, cc := test.Peer(t, "perf", "linux-perf"), test.Peer(t, "gcc", "gcc")
	program := filepath.Join(t.TempDir(), "deep")
	buildProgram(t, cc, program, "-O2", "deep.c", "library.c")
	path := recordStacks(t, perf, program, "--call-graph", "dwarf")
	r, size := openPath(t, path)
	f, err := open(r, size, false)
	if err != nil {
		t.Fatal(err)
	}
	im := newImporter(context.Background(), f, &foreign.Options{}, folder{})
	if err := f.scan(context.Background(), f.r, f.data, im); err != nil {
		t.Fatal(err)
	}
	im.rows.finish()
	if err := im.nameKernel(); err != nil {
		t.Fatal(err)
	}
	kernel := im.binaryFiles().Kernel()
	asked := map[uint64]bool{}
	for _, s := range perfChains(t, perf, path) {
		for _, frame := range s.chain {
			words := strings.Fields(frame.name)
			if frame.addr>>63 == 0 || frame.addr == offCopy || asked[frame.addr] || words[0] == "[unknown]" {
				continue
			}
			asked[frame.addr] = true
			if name, _, _ := kernel.Function(frame.addr); name != words[0] {
				t.Errorf("%#x is in %q, perf says %s", frame.addr, name, frame.name)
			}
		}
	}
	if len(asked) == 0 {
		t.Skip("perf may not record the kernel here, or its symbols are hidden")
	}
}
