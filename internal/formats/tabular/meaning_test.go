package tabular_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/formats/csvtable"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// importText reads a table with a mapping.
func importText(t *testing.T, text string, m map[string]string) (*foreign.Imported, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := foreign.Look(path)
	if err != nil {
		t.Fatal(err)
	}
	return csvtable.Format.Samples(context.Background(), in, &foreign.Options{Map: m})
}

func TestLevelWordsOfOtherTools(t *testing.T) {
	tests := []struct{ word, want string }{
		{"DRAM", "Local RAM"},
		{"LLC", "L3"},
		{"MEM", "Local RAM"},
		{"Remote DRAM", "Remote RAM"},
		{"remote_ram", "Remote RAM"},
		{"LFB/MAB hit", "LFB"},
		{"l1d", "L1"},
		{"L2", "L2"},
		{"Remote Cache", "Remote Cache"},
		{"I/O", "I/O"},
		{"Local RAM or RAM hit", "Local RAM"},
		{"Remote RAM (1 hop) hit", "Remote RAM"},
		{"L3 miss", "Beyond L3"},
	}
	for _, tt := range tests {
		out, err := importText(t, "cpu,level\n0,"+tt.word+"\n", nil)
		if err != nil {
			t.Errorf("%s: %v", tt.word, err)
			continue
		}
		if got := out.Tables[0].Column("level").Text(0); got != tt.want || len(out.Warnings) > 0 {
			t.Errorf("level %q is read as %q with %q, want %q without a warning", tt.word, got, out.Warnings, tt.want)
		}
	}
}

func TestLevelWordsThatMeanNothingKnown(t *testing.T) {
	const text = "cpu,level\n0,HBM\n1,L1\n2,scratch\n"
	out, err := importText(t, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(out.Warnings, "\n"); !strings.Contains(w, `"HBM", "scratch"`) || !strings.Contains(w, "--map level:HBM=") {
		t.Errorf("warnings %q name neither the words nor the cure", w)
	}
	out, err = importText(t, text, map[string]string{"level:HBM": "DRAM", "level:scratch": "L4"})
	if err != nil {
		t.Fatal(err)
	}
	level := out.Tables[0].Column("level")
	if got := level.Text(0) + "," + level.Text(1) + "," + level.Text(2); got != "Local RAM,L1,L4" || len(out.Warnings) > 0 {
		t.Errorf("mapped levels %s with %q", got, out.Warnings)
	}
	for key, want := range map[string]string{"level:HBM": "is no level", "level:nothing": "has no word"} {
		if _, err := importText(t, text, map[string]string{key: "fast"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--map %s=fast: error %v, want %q", key, err, want)
		}
	}
}

func TestUnitsOfTime(t *testing.T) {
	tests := []struct {
		name, text string
		m          map[string]string
		want       string // time of the second row in ns, or an error
		warns      string
	}{
		{"nanoseconds as ever", "time,cpu\n0,0\n1500,1\n", nil, "1500", ""},
		{"said", "t,cpu\n0,0\n1.5,1\n", map[string]string{"time": "t:us"}, "1500", ""},
		{"said, whole numbers", "t,cpu\n0,0\n2,1\n", map[string]string{"time": "t:ms"}, "2000000", ""},
		{"by its name", "t_us,cpu\n0,0\n1.5,1\n", map[string]string{"time": "t_us"}, "1500", "read in us"},
		{"by brackets", "time (ms),cpu\n0,0\n2,1\n", map[string]string{"time": "time (ms)"}, "2000000", "read in ms"},
		{"name and word disagree", "t_us,cpu\n0,0\n2,1\n", map[string]string{"time": "t_us:ns"}, "2", ""},
		{"a colon in the name", "a:us,cpu\n0,0\n7,1\n", map[string]string{"time": "a:us"}, "7", ""},
		{"fractions", "time,cpu\n0,0\n0.25,1\n", nil, "250000000", "read in seconds"},
		{"words are no times", "t,cpu\nlate,0\nearly,1\n", map[string]string{"time": "t:ms"}, "is a category", ""},
		{"a decimal comma", "t;cpu\n0,000;0\n0,500;1\n", map[string]string{"time": "t:ms"}, "500000", "decimal comma"},
		{"thousands, or a decimal comma", "t;cpu\n1,000;0\n2,500;1\n", map[string]string{"time": "t:ms"}, "is a category", ""},
		{"in another case", "Time;CPU\n0;0\n7;1\n", nil, "7", "is taken for"},
		{"a unit behind the name", "TIME [us]\tcpu\n0\t0\n1.5\t1\n", nil, "1500", "read in us"},
		{"no unit of time", "t,cpu\n0,0\n2,1\n", map[string]string{"time": "t:miles"}, "no unit of time", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := importText(t, tt.text, tt.m)
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
				return
			}
			c := out.Tables[0].Column("time")
			if got := c.Text(1); got != tt.want || c.Unit != "ns" {
				t.Errorf("time %s %s, want %s ns", got, c.Unit, tt.want)
			}
			if w := strings.Join(out.Warnings, "\n"); (tt.warns == "") != (w == "") || !strings.Contains(w, tt.warns) {
				t.Errorf("warnings %q, want %q", w, tt.warns)
			}
		})
	}
}

// A column is known by its name in another case and with a unit behind it; where
// two could be meant, neither is.
func TestNamesAsOthersWriteThem(t *testing.T) {
	out, err := importText(t, "Latency (ns),CPU,Address\n40,0,0x10\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	tab := out.Tables[0]
	if c := tab.Column("latency"); c == nil || c.Unit != "ns" || c.Text(0) != "40" {
		t.Errorf("latency is %+v", c)
	}
	if tab.Column("cpu") == nil || tab.Column("addr") == nil || len(out.Warnings) != 3 {
		t.Errorf("CPU or Address is not known, or not said: %q", out.Warnings)
	}
	out, err = importText(t, "Cpu,CPU,time\n1,2,3\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Tables[0].Column("cpu") != nil {
		t.Error("one of two columns was taken for the CPU")
	}
}

func TestUnitsOfOtherColumns(t *testing.T) {
	out, err := importText(t, "cpu,lat\n0,40\n", map[string]string{"latency": "lat:ticks"})
	if err != nil {
		t.Fatal(err)
	}
	if c := out.Tables[0].Column("latency"); c.Unit != "ticks" || c.Text(0) != "40" {
		t.Errorf("latency %s %s, want 40 ticks", c.Text(0), c.Unit)
	}
}
