package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/machine/hw/show"
)

func topologyOutput(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(append([]string{"topology"}, args...))
	err := root.ExecuteContext(context.Background())
	return out.String(), err
}

func topologyTree(t *testing.T, args ...string) *show.Node {
	t.Helper()
	out, err := topologyOutput(t, append(args, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	var n show.Node
	if err := json.Unmarshal([]byte(out), &n); err != nil {
		t.Fatal(err)
	}
	return &n
}

// sums adds up the samples of each type.
func sums(n *show.Node, into map[string]uint64) map[string]uint64 {
	into[n.Type] += *n.Samples
	for _, kid := range n.Children {
		sums(kid, into)
	}
	return into
}

// TestTopologyConserves adds the samples of every depth to those resolved
// nearer the CPU, counted from their levels: 4 101 L1, 1 057 LFB, 6 085 L2,
// 1 512 L3, and 2 921 of which only the CPU is known.
func TestTopologyConserves(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	lulesh := map[string]uint64{"Machine": 0, "CPU": 0, "L1": 2921, "L2": 2921 + 4101 + 1057, "L3": 2921 + 4101 + 1057 + 6085, "NUMA": 15676}
	withCores := map[string]uint64{"Package": 0, "Core": 0}
	for k, v := range lulesh {
		withCores[k] = v
	}
	tests := []struct {
		set    string
		total  uint64
		nearer map[string]uint64
	}{
		{"lulesh_legacy", 15676, lulesh},
		{"lulesh_dev_2015", 15676, withCores},
		// Its levels were not recorded: all samples are known by their CPU only.
		{"mitos_1636037395", 7062, map[string]uint64{"Machine": 0, "Package": 0, "Core": 0, "CPU": 0, "L1": 7062, "L2": 7062, "L3": 7062, "NUMA": 7062}},
	}
	for _, tt := range tests {
		tree := topologyTree(t, test.Shared(t, "samples/"+tt.set))
		got := sums(tree, map[string]uint64{})
		for kind, n := range got {
			nearer, ok := tt.nearer[kind]
			if !ok || n+nearer != tt.total {
				t.Errorf("%s: %s has %d samples, %d nearer the CPU (known: %v); want %d in all", tt.set, kind, n, nearer, ok, tt.total)
			}
		}
		if len(got) != len(tt.nearer) {
			t.Errorf("%s has depths %v, want those of %v", tt.set, got, tt.nearer)
		}
	}
}

// TestTopologyEqualsSelection compares the samples of resources with what
// selecting them gives.
func TestTopologyEqualsSelection(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	set := test.Shared(t, "samples/lulesh_legacy")
	tree := topologyTree(t, set)
	var walk func(n *show.Node)
	checked := 0
	walk = func(n *show.Node) {
		if n.Type != "CPU" && n.Type != "L1" {
			checked++
			selected := topologyTree(t, set, "--where", "at "+n.ID)
			if *selected.Samples != *n.Samples || *selected.Latency != *n.Latency {
				t.Errorf("%s has %d samples and %v cycles; `at %s` selects %d and %v", n.ID, *n.Samples, *n.Latency, n.ID, *selected.Samples, *selected.Latency)
			}
		}
		for _, kid := range n.Children {
			walk(kid)
		}
	}
	walk(tree)
	if checked != 21 { // the machine, 2 nodes, 2 L3, 16 L2
		t.Errorf("checked %d resources, want 21", checked)
	}
}

// A measure of a column is the one of the samples that selecting the resource
// gives, in every form.
func TestTopologyByColumn(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	dir := t.TempDir()
	machine, samples := filepath.Join(dir, "machine.xml"), filepath.Join(dir, "samples.csv")
	for file, text := range map[string]string{
		machine: `<Hardware name="made"><NUMA id="0" size="8"><Cache id="2" size="4096"><CPU id="0"/></Cache><Cache id="2" size="4096"><CPU id="1"/></Cache></NUMA></Hardware>`,
		samples: "time,cpu,latency,weight,symbol\n1,0,10,3,a\n2,0,10,5,a\n3,1,10,40,b\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for by, want := range map[string]string{"weight:sum": "48 8 40", "weight:largest": "40 5 40", "weight:mean": "16 4 40", "symbol:distinct": "2 1 1", "weight:count": "3 2 1", "weight:deviation": "17 1 0"} {
		tree := topologyTree(t, samples, "--topology", machine, "--by", by)
		got := []string{fmt.Sprintf("%.0f", *tree.Value)}
		var walk func(n *show.Node)
		walk = func(n *show.Node) {
			if n.Type == "CPU" {
				got = append(got, fmt.Sprintf("%.0f", *n.Value))
			}
			for _, kid := range n.Children {
				walk(kid)
			}
		}
		walk(tree)
		if strings.Join(got, " ") != want || tree.By == nil {
			t.Errorf("--by %s: machine and CPUs %v, want %s", by, got, want)
		}
	}
	for args, want := range map[string]string{"": "largest of weight", "--svg": "Largest of weight", "--svg=icicle": "Largest of weight"} {
		out, err := topologyOutput(t, append(strings.Fields(args), samples, "--topology", machine, "--by", "weight:largest")...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v, no %q in %s", args, err, want, out)
		}
	}
	if _, err := topologyOutput(t, samples, "--topology", machine, "--by", "symbol:sum"); err == nil || !strings.Contains(err.Error(), "holds names") {
		t.Errorf("the sum of names: %v", err)
	}
}

func TestTopologyForms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "made.xml")
	if err := os.WriteFile(file, []byte(`<Hardware name="made"><NUMA id="0" size="8"><Cache id="2" size="4096"><CPU id="0"/><CPU id="5"/></Cache></NUMA></Hardware>`), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args []string
		want string // in the output
		bad  string // in the error
	}{
		{[]string{file}, "made: 2 CPUs, 1 memory node, 8 KiB, from Mitos\n\nmade ", ""},
		{[]string{file}, "└ 2 × CPU                                 0,5\n", ""},
		{[]string{file, "--json"}, `"samples": null`, ""},
		{[]string{"--svg", file}, "<title>Sunburst of made</title>", ""},
		{[]string{"--svg", "icicle", file}, "<title>Icicle of made</title>", ""},
		{[]string{"--svg=icicle", "--theme", "dark", file}, `fill="#15171c"`, ""},
		{[]string{"--svg=cube", file}, "", `--svg "cube": want sunburst or icicle`},
		{[]string{"--theme", "pink", file}, "", `--theme "pink": want light or dark`},
		{[]string{"--by", "size", file}, "", `--by "size": want latency, samples, mean, or a column`},
		{[]string{file, "--where", "cpu = 1"}, "", "has none"},
		{[]string{file, file}, "", "topology wants one file, got 2"},
		{[]string{file + ".not"}, "", "no such file"},
	}
	for _, tt := range tests {
		out, err := topologyOutput(t, tt.args...)
		switch {
		case tt.bad == "" && (err != nil || !strings.Contains(out, tt.want)):
			t.Errorf("topology %q: %v; output lacks %q:\n%s", tt.args, err, tt.want, out)
		case tt.bad != "" && (err == nil || !strings.Contains(err.Error(), tt.bad)):
			t.Errorf("topology %q: error %v, want one with %q", tt.args, err, tt.bad)
		}
	}
}

// TestTopologyOfThisMachine needs nothing but the kernel.
func TestTopologyOfThisMachine(t *testing.T) {
	out, err := topologyOutput(t)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "from sysfs") || !strings.Contains(out, "CPU") {
		t.Errorf("output:\n%s", out)
	}
}
