package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/canvas"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

// clusterView is hosts of two CPUs with 1,000 samples each, most from L1. On the
// odd one half of them come from memory.
func clusterView(t *testing.T, hosts, odd int) *View {
	t.Helper()
	both := hw.CPUs{0, 1}
	machine, err := hw.Build(hw.Spec{Objects: []hw.Object{
		{Kind: hw.CPU, OS: 0}, {Kind: hw.CPU, OS: 1}, {Kind: hw.Cache1, OS: -1, CPUs: hw.CPUs{0}}, {Kind: hw.Cache1, OS: -1, CPUs: hw.CPUs{1}}, {Kind: hw.NUMA, OS: 0, CPUs: both},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var named []hw.NamedMachine
	var names []string
	var host, level []uint32
	var cpu []int64
	for h := range hosts {
		names = append(names, fmt.Sprintf("node%02d", h))
		named = append(named, hw.NamedMachine{Name: names[h], Machine: machine})
		for i := range 1000 {
			far := uint32(0)
			if i%10 == 0 || h == odd && i%2 == 0 {
				far = 1
			}
			host, level, cpu = append(host, uint32(h)), append(level, far), append(cpu, int64(i%2))
		}
	}
	topology, err := hw.NewCluster(named)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := table.New("samples", []*table.Column{
		table.Ints("cpu", "", table.Measured, cpu, nil), table.Categories("host", table.Measured, host, names, nil),
		table.Categories("level", table.Measured, level, []string{hw.L1.String(), hw.LocalRAM.String()}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := hw.PlaceRows(hw.NewPlacer(topology), samples)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]hw.Count, len(rows.Coder.Places))
	for _, code := range rows.Code {
		counts[code].Samples++
	}
	return &View{Topology: topology, Samples: hw.Fold(rows.Coder, counts), Of: uint64(samples.Rows()), Level: table.Measured, Latency: table.Absent}
}

func TestClusterText(t *testing.T) {
	var b bytes.Buffer
	if err := clusterView(t, 12, 7).Text(&b); err != nil {
		t.Fatal(err)
	}
	said := b.String()
	for _, want := range []string{"12 hosts: 24 CPUs, 12 memory nodes", "├ node07", "└ 11 × Host", "node07 is 42.2 deviations from the median host in L1"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q:\n%s", want, said)
		}
	}
	if strings.Index(said, "node07") > strings.Index(said, "11 × Host") {
		t.Errorf("the odd host is not first:\n%s", said)
	}
}

func TestClusterTree(t *testing.T) {
	encoded, err := json.Marshal(clusterView(t, 5, 3).Tree())
	if err != nil {
		t.Fatal(err)
	}
	var tree struct {
		Type     string
		Hosts    []Host
		Children []struct {
			Type, ID, Name, CPUs string
			Samples              int
			Children             []struct{ Children []struct{ ID string } }
		}
	}
	if err := json.Unmarshal(encoded, &tree); err != nil {
		t.Fatal(err)
	}
	if tree.Type != "Cluster" || len(tree.Children) != 5 || tree.Hosts[0].ID != "Host:3" || tree.Hosts[0].Name != "node03" {
		t.Errorf("%s", encoded)
	}
	if h := tree.Children[4]; h.Type != "Host" || h.ID != "Host:4" || h.Name != "node04" || h.CPUs != "0-1" || h.Samples != 1000 || h.Children[0].Children[1].ID != "L1:1@Host:4" {
		t.Errorf("%+v", h)
	}
}

// Many hosts are small pictures, the odd one first and bold, and of very many only
// those that are most unlike the others. Everything of a host is in its picture.
func TestManyHostsDrawings(t *testing.T) {
	for _, hosts := range []int{9, 40} {
		v := clusterView(t, hosts, 7)
		drawn := min(hosts, mostPictures)
		for name, draw := range map[string]func(canvas.Canvas, *Drawing) error{"sunburst": v.Sunburst, "icicle": v.Icicle} {
			var b bytes.Buffer
			if err := draw(canvas.NewSVG(&b), &Drawing{Theme: Light}); err != nil {
				t.Fatal(err)
			}
			svg := b.String()
			if n := strings.Count(svg, ">CPU 1 of node"); n != drawn {
				t.Errorf("%s: %d second CPUs of %d hosts", name, n, hosts)
			}
			captions := regexp.MustCompile(`<text[^>]*>node\d\d</text>`).FindAllString(svg, -1)
			if len(captions) != drawn || !strings.Contains(captions[0], ">node07<") || !strings.Contains(captions[0], `font-weight="600"`) || strings.Contains(captions[1], "600") {
				t.Errorf("%s: the hosts are %q", name, captions)
			}
			if !regexp.MustCompile(`>\d+\.\d off in L1<`).MatchString(svg) {
				t.Errorf("%s: nothing says how far the odd host is off", name)
			}
			if want := fmt.Sprintf("%d hosts, ", hosts); !strings.Contains(svg, want) || strings.Contains(svg, "the 24 most unlike") != (hosts > drawn) {
				t.Errorf("%s of %d hosts has another heading", name, hosts)
			}
		}
	}
	alone := clusterView(t, 40, 7)
	alone.Samples = nil
	var b bytes.Buffer
	if err := alone.Sunburst(canvas.NewSVG(&b), &Drawing{}); err != nil || !strings.Contains(b.String(), "the first 24") {
		t.Errorf("hosts without samples: %v", err)
	}
}

// Both drawings have a ring of hosts, with their names.
func TestClusterDrawings(t *testing.T) {
	v := clusterView(t, 5, 3)
	for name, draw := range map[string]func(canvas.Canvas, *Drawing) error{"sunburst": v.Sunburst, "icicle": v.Icicle} {
		var b bytes.Buffer
		if err := draw(canvas.NewSVG(&b), &Drawing{Theme: Light}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{">Host<", "node03", "5 hosts", "CPU 1 of node04"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("the %s has no %q", name, want)
			}
		}
	}
}
