package hw_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/machine/topotest"
)

// machineOf has memory nodes of that many CPUs each, with an L3 around each.
func machineOf(t testing.TB, nodes, cpus int) *hw.Topology {
	t.Helper()
	var spec hw.Spec
	for n := range nodes {
		var inside []int
		for c := range cpus {
			cpu := n*cpus + c
			inside = append(inside, cpu)
			spec.Objects = append(spec.Objects, hw.Object{Kind: hw.CPU, OS: cpu}, hw.Object{Kind: hw.Cache1, OS: -1, CPUs: hw.CPUs{cpu}, Size: 1 << 15, Line: 64})
		}
		spec.Objects = append(spec.Objects, hw.Object{Kind: hw.NUMA, OS: n, CPUs: inside, Size: 1 << 30}, hw.Object{Kind: hw.Cache3, OS: -1, CPUs: inside, Size: 1 << 20})
	}
	m, err := hw.Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fat has two memory nodes, and the two thin hosts one: they keep their machines.
func fatAndThin(t testing.TB) *hw.Topology {
	t.Helper()
	thin := machineOf(t, 1, 2)
	c, err := hw.NewCluster([]hw.NamedMachine{{"thin0", thin}, {"fat", machineOf(t, 2, 4)}, {"thin1", thin}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCluster(t *testing.T) {
	c := fatAndThin(t)
	topotest.Check(t, c, hw.NewPlacer(c))
	if got := c.Summary(); got.CPUs != 12 || got.Nodes != 4 || got.Levels[0].Type != "Cluster" || got.Levels[1] != (hw.KindCount{Type: "Host", Count: 3}) {
		t.Errorf("%+v", got)
	}
	for id, name := range map[string]string{"host:1": "fat", "L3:1@Host:1": "L3 #1 of fat", "cpu:7@host:1": "CPU 7 of fat", "NUMA:0@Host:2": "NUMA 0 of thin1", "cluster": "3 hosts"} {
		if r, err := c.Find(id); err != nil || r.Name != name {
			t.Errorf("%s is %v (%v), want %s", id, r, err, name)
		}
	}
	for id, want := range map[string]string{"CPU:1": "say which", "CPU:7@Host:0": "Host:0", "Host:3": "Host:0 to Host:2", "L3:1@L3:0": "say which"} {
		if _, err := c.Find(id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want something with %q", id, err, want)
		}
	}
	cpu, err := c.Find("CPU:7@Host:1")
	if err != nil {
		t.Fatal(err)
	}
	if cpu.OwnOS() != 7 || cpu.OwnCPUs().String() != "7" || cpu.ShortName() != "CPU 7" || cpu.OS == 7 {
		t.Errorf("%+v", cpu)
	}
}

// access is a sample as a table says it.
type access struct {
	host  string
	cpu   int64
	level hw.Level
}

func sampled(t testing.TB, all ...access) *table.Table {
	t.Helper()
	names := table.NewInterner()
	levels := table.NewInterner()
	var hosts, codes []uint32
	var cpus []int64
	for _, a := range all {
		hosts, codes, cpus = append(hosts, names.CodeString(a.host)), append(codes, levels.CodeString(a.level.String())), append(cpus, a.cpu)
	}
	out, err := table.New("samples", []*table.Column{
		table.Ints("cpu", "", table.Measured, cpus, nil), table.Categories("host", table.Measured, hosts, names.Names(), nil), table.Categories("level", table.Measured, codes, levels.Names(), nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The CPUs 1 of three hosts are three CPUs, remote memory is another node of the
// same host, and the CPU that one host has is none of another.
func TestPlaceOnHosts(t *testing.T) {
	c := fatAndThin(t)
	rows, err := hw.PlaceRows(hw.NewPlacer(c), sampled(t,
		access{"thin0", 1, hw.L1}, access{"fat", 1, hw.L3}, access{"fat", 1, hw.RemoteRAM}, access{"thin1", 1, hw.LocalRAM},
		access{"thin1", 1, hw.RemoteRAM}, access{"thin0", 7, hw.L1}, access{"elsewhere", 0, hw.L1},
	))
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]hw.Count, len(rows.Coder.Places))
	for _, code := range rows.Code {
		counts[code].Samples++
	}
	a := hw.Fold(rows.Coder, counts)
	if err := a.Check(); err != nil {
		t.Error(err)
	}
	for id, want := range map[string]uint64{
		"Cluster": 7, "Host:0": 1, "Host:1": 2, "Host:2": 2, "CPU:1@Host:0": 1, "CPU:1@Host:1": 2, "CPU:1@Host:2": 2,
		"L3:0@Host:1": 2, "NUMA:1@Host:1": 1, "NUMA:0@Host:1": 0, "NUMA:0@Host:2": 1, "RemoteRAM:0@Host:2": 1,
	} {
		i, err := a.Placer.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Tallies[i].Passed.Samples; got != want {
			t.Errorf("%s has %d samples, want %d", id, got, want)
		}
		marks, err := rows.Coder.Touching(id)
		if err != nil {
			t.Fatal(err)
		}
		touched := uint64(0)
		for _, code := range rows.Code {
			if marks[code] {
				touched++
			}
		}
		if touched != want {
			t.Errorf("at %s selects %d samples, want %d", id, touched, want)
		}
	}
	if len(a.Unplaced) != 1 || a.Unplaced[0].Samples != 2 || a.Unplaced[0].Reason != "their CPU is not in the topology" {
		t.Errorf("unplaced %+v", a.Unplaced)
	}
	for _, l := range a.Links {
		if from, to := a.Placer.Resources[l.From].Name, a.Placer.Resources[l.To].Name; from[strings.LastIndex(from, " "):] != to[strings.LastIndex(to, " "):] {
			t.Errorf("a link from %s to %s", from, to)
		}
	}
}

func TestClusterStored(t *testing.T) {
	stored, err := json.Marshal(fatAndThin(t))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(stored), `"objects"`); n != 2 {
		t.Errorf("%d machines are stored, want 2: two hosts are alike", n)
	}
	machine := `{"version":1,"objects":[{"type":"CPU","os":0,"cpus":"0"}]}`
	for _, wrong := range []string{
		`{"version":2}`, `{"version":3}`, `{"version":2,"hosts":[{"name":"a","machine":1}],"machines":[` + machine + `]}`,
		`{"version":2,"hosts":[{"name":"a","machine":-1}],"machines":[` + machine + `]}`,
		`{"version":2,"hosts":[{"name":"a"}],"machines":[{"version":2,"hosts":[{"name":"b"}],"machines":[` + machine + `]}]}`,
		`{"version":1,"objects":[{"type":"CPU","os":0,"cpus":"0"},{"type":"Host","cpus":"0"}]}`,
	} {
		var got hw.Topology
		if err := json.Unmarshal([]byte(wrong), &got); err == nil {
			t.Errorf("%s is read", wrong)
		}
	}
}

// A tree of more resources than a page can be sent is not made; a machine stands
// for all of one kind, and a warning says it.
func TestLargeCluster(t *testing.T) {
	m := machineOf(t, 2, 64)
	hosts := make([]hw.NamedMachine, 1000)
	for i := range hosts {
		hosts[i] = hw.NamedMachine{Name: fmt.Sprint("n", i), Machine: m}
	}
	c, err := hw.NewCluster(hosts)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Hosts()) != 0 || len(c.At(hw.CPU)) != 128 || !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "of "+term.Counted(1000, "host")) }) {
		t.Errorf("%d hosts, %d CPUs, %v", len(c.Hosts()), len(c.At(hw.CPU)), c.Warnings)
	}
	if c, err = hw.NewCluster(hosts[:256]); err != nil || len(c.Hosts()) != 256 {
		t.Errorf("256 hosts: %v, %v", c, err)
	}
	if len(m.Warnings) != 0 {
		t.Errorf("the machine itself is warned of: %v", m.Warnings)
	}
}
