package main

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// TestExportPNG: the picture of the machine as pixels, as wide as asked for.
func TestExportPNG(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("samples.csv"), []byte("cpu,level,latency\n0,L1,4\n0,L3,40\n1,L2,12\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	machine := filepath.Join("..", "..", "internal", "machine", "hw", "show", "testdata", "small.xml")
	for width, args := range map[int][]string{1792: nil, 300: {"--width", "300"}} {
		if err := runVerb(append([]string{"export", in("samples.csv"), "--topology", machine, "-o", in("out.png")}, args...)...); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(in("out.png"))
		if err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if m.Bounds().Dx() != width {
			t.Errorf("%v: the picture is %v", args, m.Bounds())
		}
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{in("samples.csv"), "-o", in("no.png")}, "topology"},
		{[]string{in("samples.csv"), "--topology", machine, "-o", in("no.png"), "--width", "9"}, "--width 9: want 64 to 16384 pixels"},
		{[]string{in("samples.csv"), "-o", in("no.jpg")}, "want .csv, .parquet, .arrow, .folded, .pb.gz, .callgrind, .json, .firefox.json, .speedscope.json, .perfetto, .otf2, .prv, .ctf, .svg, .png or .html"},
	} {
		err := runVerb(append([]string{"export"}, tt.args...)...)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("export %v: %v, want %q", tt.args, err, tt.want)
		}
	}
	if left, _ := filepath.Glob(in("*no*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}
