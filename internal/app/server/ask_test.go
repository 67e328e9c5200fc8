package server

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/naive"
	"github.com/isobath/isobath/internal/machine/hw"
)

// sixSamples is a run of six samples on a machine of two nodes with two CPUs
// each. Samples 0 and 1 are L1 hits of CPU 0, 2 is an L3 hit of CPU 1, 3 and 4
// local and remote memory of CPU 2, and 5 has neither latency nor level.
func sixSamples(t testing.TB) *frame.Run {
	t.Helper()
	valid := table.FullBits(6)
	valid.Clear(5)
	tab, err := table.New("samples", []*table.Column{
		{Name: "time", Kind: table.Time, Unit: "ns", Provenance: table.Measured, Data: []int64{0, 10, 20, 30, 40, 50}},
		{Name: "latency", Kind: table.Number, Unit: "cycles", Provenance: table.Measured, Data: []int32{10, 10, 40, 200, 400, 0}, Valid: valid},
		{Name: "level", Kind: table.Category, Provenance: table.Measured, Data: []uint32{0, 0, 1, 2, 2, 0}, Dict: []string{"L1", "L3", "Local RAM"}, Valid: valid},
		{Name: "cpu", Kind: table.Number, Data: []int32{0, 0, 1, 2, 2, 3}},
		{Name: "addr", Kind: table.Address, Provenance: table.Measured, Data: []uint64{0x1000, 0x1008, 1 << 63, 1<<63 + 1, 0x2000, math.MaxUint64}},
		{Name: "file", Kind: table.Category, Data: []uint32{0, 0, 0, 1, 1, 2}, Dict: []string{"a.c", "/home/x/src/b.c", "../../etc/passwd"}},
		{Name: "line", Kind: table.Number, Data: []int32{1, 2, 2, 7, 7, 9}},
	})
	if err != nil {
		t.Fatal(err)
	}
	topology := twoNodes(t)
	places, err := hw.PlaceRows(hw.NewPlacer(topology), tab)
	if err != nil {
		t.Fatal(err)
	}
	data := query.Data{Table: tab, Placing: &query.Placing{
		Row: places.Code, Count: len(places.Coder.Places), Touching: places.Coder.Touching,
	}}
	r := &frame.Run{ID: "six", Name: "six.csv", Kind: "samples", Format: "test"}
	r.Put(&memory.Samples{Run: r, Data: data, Engine: naive.New(data), Places: places, Topology: topology})
	return r
}

func twoNodes(t testing.TB) *hw.Topology {
	t.Helper()
	spec := hw.Spec{Name: "pair"}
	object := func(k hw.Kind, os int, cpus ...int) {
		spec.Objects = append(spec.Objects, hw.Object{Kind: k, OS: os, CPUs: hw.NewCPUs(cpus)})
	}
	object(hw.Machine, -1, 0, 1, 2, 3)
	for n := range 2 {
		object(hw.Package, n, 2*n, 2*n+1)
		object(hw.NUMA, n, 2*n, 2*n+1)
		object(hw.Cache3, -1, 2*n, 2*n+1)
		for cpu := 2 * n; cpu < 2*n+2; cpu++ {
			object(hw.Cache2, -1, cpu)
			object(hw.Cache1, -1, cpu)
			object(hw.Core, cpu, cpu)
			object(hw.CPU, cpu, cpu)
		}
	}
	topology, err := hw.Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	return topology
}

// reply is a decoded answer.
type reply struct {
	memory.Answer
	body []byte
}

// decode reads a message by the table in docs/formats.md.
func decode(t *testing.T, message []byte) reply {
	t.Helper()
	if string(message[:4]) != "ISOB" {
		t.Fatalf("starts with %q", message[:4])
	}
	n := int(binary.LittleEndian.Uint32(message[4:]))
	var a memory.Answer
	if err := json.Unmarshal(message[8:8+n], &a); err != nil {
		t.Fatal(err)
	}
	start := (8 + n + 7) / 8 * 8
	for _, c := range a.Columns {
		if c.Offset%8 != 0 {
			t.Errorf("column at %d is not aligned", c.Offset)
		}
	}
	return reply{a, message[start:]}
}

func (r reply) u32(c frame.Column) []int {
	out := []int{}
	ref := r.Columns[c]
	for i := range ref.Length {
		switch ref.Type {
		case "u32":
			out = append(out, int(binary.LittleEndian.Uint32(r.body[ref.Offset+4*i:])))
		case "u16":
			out = append(out, int(binary.LittleEndian.Uint16(r.body[ref.Offset+2*i:])))
		default:
			panic("column of " + ref.Type)
		}
	}
	return out
}

func (r reply) f64(c frame.Column) []float64 {
	out := []float64{}
	ref := r.Columns[c]
	if ref.Type != "f64" {
		panic("column of " + ref.Type)
	}
	for i := range ref.Length {
		out = append(out, math.Float64frombits(binary.LittleEndian.Uint64(r.body[ref.Offset+8*i:])))
	}
	return out
}

// everything asks one of each question.
const everything = `{"where":"latency >= 40","hover":"cpu = 2 | cpu = 0",
 "axes":[{"column":"latency","scale":"linear","bins":4,"lo":0,"hi":400},{"column":"level","scale":"appearance"}],
 "pairs":[[0,1]],
 "groups":[{"by":["file","line"],"sum":"latency","distinct":"cpu"}],
 "stats":[{"column":"latency","quantiles":[0.5,1]}],
 "places":true,
 "rows":{"offset":1,"count":2,"columns":["addr","level"],"sort":"latency","down":true}}`

func TestAsk(t *testing.T) {
	s := newTestServer(t, nil)
	w := do(s, "POST", "/api/v1/runs/six/ask", everything)
	if w.Code != 200 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	a := decode(t, w.Body.Bytes())
	check := func(what string, got, want any) {
		t.Helper()
		if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
			t.Errorf("%s: %s, want %s", what, g, w)
		}
	}
	check("counts", a.Counts, [3]int{6, 3, 2})
	check("hover before selection", a.HoverAll, 4)
	check("selection", a.Where, "latency >= 40")

	latency := a.Axes[0]
	check("edges", a.f64(latency.Edges), []float64{0, 100, 200, 300, 400})
	check("all", a.u32(latency.Counts[0]), []int{3, 0, 1, 1, 1}) // the last is the missing one
	check("selected", a.u32(latency.Counts[1]), []int{1, 0, 1, 1, 0})
	check("hovered", a.u32(latency.Counts[2]), []int{0, 0, 1, 1, 0})
	check("missing", latency.Missing, true)
	check("labels", a.Axes[1].Labels, []string{"L1", "L3", "Local RAM"})

	p := a.Pairs[0]
	check("left", a.u32(p.Left), []int{0, 0, 2, 3, 4})
	check("right", a.u32(p.Right), []int{0, 1, 2, 2, 3})
	check("pairs selected", a.u32(p.Counts[1]), []int{0, 1, 1, 1, 0})

	g := a.Groups[0]
	check("keys", g.Keys, [][]string{{"/home/x/src/b.c", "a.c", "../../etc/passwd", "a.c"}, {"7", "2", "9", "1"}})
	check("sums of all", a.f64(g.Sums[0]), []float64{600, 50, 0, 10})
	check("selected", a.u32(g.Counts[1]), []int{2, 1, 0, 0})
	check("distinct CPUs", a.u32(g.Distinct[0]), []int{1, 2, 1, 1})

	check("quantiles", a.f64(a.Stats[0].Quantiles[1]), []float64{200, 400})
	check("rows", a.Rows.Cells, [][]string{{"0x8000000000000001", "Local RAM"}, {"0x8000000000000000", "L3"}})
	check("row numbers", a.Rows.Index, []int{3, 2})
}

// TestAskPlaces checks the topology aggregate by hand: see sixSamples.
func TestAskPlaces(t *testing.T) {
	s := newTestServer(t, nil)
	info := get[frame.Info](t, do(s, "GET", "/api/v1/runs/six", ""), 200)
	a := decode(t, do(s, "POST", "/api/v1/runs/six/ask", `{"places":true,"where":"latency >= 40"}`).Body.Bytes())
	samples, links := a.u32(a.Places.Samples[0]), a.u32(a.Places.LinkSamples[0])
	latency := a.f64(a.Places.Latency[0])
	for _, want := range []struct {
		resource       string
		samples, links int
		latency        float64
	}{
		{"Machine", 6, 0, 660},
		{"CPU:0", 2, 2, 20},
		{"L1:0", 2, 0, 20},
		{"CPU:1", 1, 1, 40},
		{"L2:1", 1, 1, 40},
		{"L3:0", 1, 0, 40},
		{"CPU:2", 2, 2, 600},
		{"L3:1", 2, 2, 600},
		{"NUMA:1", 2, 0, 600},
		{"NUMA:0", 0, 0, 0},
	} {
		i := slices.IndexFunc(info.Topology.Resources, func(r frame.Resource) bool { return r.Name == want.resource })
		if i < 0 {
			names := []string{}
			for _, r := range info.Topology.Resources {
				names = append(names, r.Name)
			}
			t.Fatalf("no resource %s among %s", want.resource, names)
		}
		if samples[i] != want.samples || links[i] != want.links || latency[i] != want.latency {
			t.Errorf("%s: %d samples, %d on its link, latency %v; want %+v", want.resource, samples[i], links[i], latency[i], want)
		}
	}
	if got := a.u32(a.Places.Samples[2]); len(got) != 0 {
		t.Errorf("without hover there are hovered counts: %v", got)
	}
}

func TestAskErrors(t *testing.T) {
	s := newTestServer(t, nil)
	s.Add(&frame.Run{ID: "mesh", Name: "m.vtu", Kind: "mesh"})
	tests := []struct {
		name, run, body string
		want            frame.Failure
	}{
		{"unknown column", "six", `{"where":"cpu = 1 & latancy > 3"}`, frame.Failure{Error: "latency", Field: "where", Position: 10, Length: 7}},
		{"in the filter", "six", `{"filter":"cpu ="}`, frame.Failure{Error: "expected a value", Field: "filter", Position: 5, Length: 1}},
		{"in the hover, after other letters", "six", `{"hover":"level = \"ü\" &"}`, frame.Failure{Error: "expected", Field: "hover", Position: 13, Length: 1}},
		{"axis", "six", `{"axes":[{"column":"lvel"}]}`, frame.Failure{Error: `did you mean "level"?`}},
		{"group", "six", `{"groups":[{"by":["cpu"],"sum":"cost"}]}`, frame.Failure{Error: "cost"}},
		{"no group", "six", `{"groups":[{"by":[]}]}`, frame.Failure{Error: "no column"}},
		{"pair", "six", `{"axes":[{"column":"cpu"}],"pairs":[[0,1]]}`, frame.Failure{Error: "1 axes"}},
		{"negative pair", "six", `{"axes":[{"column":"cpu"}],"pairs":[[-1,0]]}`, frame.Failure{Error: "1 axes"}},
		{"bins", "six", `{"axes":[{"column":"cpu","bins":1000000}]}`, frame.Failure{Error: "bins"}},
		{"rows", "six", `{"rows":{"count":100000000}}`, frame.Failure{Error: "10000"}},
		{"not JSON", "six", `{"where":`, frame.Failure{Error: "body"}},
		{"wrong type", "six", `{"where":7}`, frame.Failure{Error: "body"}},
		{"no samples", "mesh", `{}`, frame.Failure{Error: "mesh"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := get[frame.Failure](t, do(s, "POST", "/api/v1/runs/"+tt.run+"/ask", tt.body), 400)
			if !strings.Contains(f.Error, tt.want.Error) || f.Field != tt.want.Field || f.Position != tt.want.Position || f.Length != tt.want.Length {
				t.Errorf("%+v, want %+v", f, tt.want)
			}
		})
	}
}

// preparing is an engine that remembers what it was told to prepare.
type preparing struct {
	query.Engine
	request *query.Request
	axis    query.Axis
}

func (p *preparing) Prepare(_ context.Context, r *query.Request, axis query.Axis) error {
	p.request, p.axis = r, axis
	return nil
}

func TestPrepare(t *testing.T) {
	s := newTestServer(t, nil)
	const path = "/api/v1/runs/six/prepare"
	body := `{"axis":{"column":"latency","scale":"log"},"ask":{"where":"cpu = 1","axes":[{"column":"cpu"}],"groups":[{"by":["file"]}],"places":true}}`
	if w := do(s, "POST", path, body); w.Code != 204 {
		t.Errorf("an engine that needs no preparation: %d %s", w.Code, w.Body)
	}
	samples := memory.Of(s.runs[0])
	engine := &preparing{Engine: samples.Engine}
	samples.Engine = engine
	if w := do(s, "POST", path, body); w.Code != 204 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if engine.axis != (query.Axis{Column: "latency", Scale: query.Log}) || fmt.Sprint(engine.request.Where) != "cpu = 1" ||
		len(engine.request.Groups) != 1 || !engine.request.Places {
		t.Errorf("prepared %+v for %+v", engine.axis, engine.request)
	}
	get[frame.Failure](t, do(s, "POST", path, `{"axis":{"column":"cost"},"ask":{}}`), 400)
	get[frame.Failure](t, do(s, "POST", path, `{"axis":{"column":"cpu"},"ask":{"where":"&"}}`), 400)
}

// TestAnswerFixture keeps the answer that the page's decoder is tested with.
func TestAnswerFixture(t *testing.T) {
	run := sixSamples(t)
	var a memory.Ask
	if err := json.Unmarshal([]byte(everything), &a); err != nil {
		t.Fatal(err)
	}
	head, body, err := memory.Of(run).Answer(context.Background(), &a)
	if err != nil {
		t.Fatal(err)
	}
	head.Took = 1.5
	message, err := body.Message(head)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(test.Root(), "web", "src", "api", "testdata")
	if *update {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	compareFile(t, filepath.Join(folder, "answer.isob"), message)
}

func TestRowsCSV(t *testing.T) {
	s := newTestServer(t, nil)
	w := do(s, "GET", "/api/v1/runs/six/rows.csv?where=latency+%3E+100&columns=addr,latency,level", "")
	want := "addr,latency,level\n0x8000000000000001,200,Local RAM\n0x2000,400,Local RAM\n"
	if w.Code != 200 || w.Body.String() != want {
		t.Errorf("%d:\n%s\nwant\n%s", w.Code, w.Body, want)
	}
	if got := do(s, "GET", "/api/v1/runs/six/rows.csv", "").Body.String(); strings.Count(got, "\n") != 7 {
		t.Errorf("everything:\n%s", got)
	}
	get[frame.Failure](t, do(s, "GET", "/api/v1/runs/six/rows.csv?columns=cost", ""), 400)
	get[frame.Failure](t, do(s, "GET", "/api/v1/runs/six/rows.csv?where=%26", ""), 400)
}

// blocking is an engine that answers only when its question is taken back.
type blocking struct {
	query.Engine
	asked    chan struct{}
	released chan error
}

func (b *blocking) Answer(ctx context.Context, _ *query.Request) (*query.Answer, error) {
	b.asked <- struct{}{}
	<-ctx.Done()
	b.released <- ctx.Err()
	return nil, ctx.Err()
}

func TestCancelledRequest(t *testing.T) {
	s := newTestServer(t, nil)
	run := sixSamples(t)
	engine := &blocking{asked: make(chan struct{}), released: make(chan error)}
	run.ID, memory.Of(run).Engine = "slow", engine
	s.Add(run)
	web := httptest.NewServer(s)
	defer web.Close()

	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "POST", web.URL+"/api/v1/runs/slow/ask", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(TokenHeader, testToken)
	done := make(chan error, 1)
	go func() {
		_, err := http.DefaultClient.Do(r)
		done <- err
	}()
	<-engine.asked
	cancel()
	if err := <-engine.released; err != context.Canceled {
		t.Errorf("the engine saw %v", err)
	}
	if err := <-done; err == nil {
		t.Error("the client got an answer")
	}
}

// FuzzAsk sends any body: an answer or a sentence, never a panic.
func FuzzAsk(f *testing.F) {
	f.Add(everything)
	f.Add(`{"axes":[{"column":"latency","lo":1e308,"hi":-1e308,"bins":1}],"pairs":[[0,0]]}`)
	f.Add(`{"stats":[{"column":"addr","quantiles":[-1,2,0.5]}],"rows":{"offset":9,"count":9,"sort":"file"}}`)
	run := sixSamples(f)
	s, err := New(Options{Token: testToken, Assets: fstest.MapFS{}})
	if err != nil {
		f.Fatal(err)
	}
	s.Add(run)
	f.Fuzz(func(t *testing.T, body string) {
		w := do(s, "POST", "/api/v1/runs/six/ask", body)
		switch {
		case w.Code == 200:
			decode(t, w.Body.Bytes())
		case get[frame.Failure](t, w, w.Code).Error == "":
			t.Errorf("%d without a sentence for %q", w.Code, body)
		}
	})
}

func TestManyClients(t *testing.T) {
	s := newTestServer(t, nil)
	web := httptest.NewServer(s)
	defer web.Close()
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			for range 4 {
				where := fmt.Sprintf(`{"where":"cpu <= %d","axes":[{"column":"latency"}],"places":true}`, i%4)
				r, err := http.NewRequest("POST", web.URL+"/api/v1/runs/six/ask", strings.NewReader(where))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set(TokenHeader, testToken)
				answer, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if err != nil || answer.StatusCode != 200 {
					t.Errorf("client %d: %d %s, %v", i, answer.StatusCode, body, err)
					return
				}
				if got, want := decode(t, body).Counts[1], []int{2, 3, 5, 6}[i%4]; got != want {
					t.Errorf("client %d: %d rows, want %d", i, got, want)
				}
			}
		})
	}
	wg.Wait()
}

// TestColumnSchema compares what the page is told of every canonical column with
// the file that its own tests read.
func TestColumnSchema(t *testing.T) {
	var columns []*table.Column
	for _, f := range samples.Fields() {
		c := &table.Column{Name: f.Name, Kind: f.Kind, Unit: f.Unit, Provenance: table.Measured}
		switch f.Kind {
		case table.Category:
			c.Data, c.Dict = []uint32{0}, []string{"a"}
		case table.Address:
			c.Data = []uint64{1}
		case table.Time:
			c.Data = []int64{1}
		case table.Flag:
			c.Data = []uint8{1}
		default:
			c.Data = []int32{1}
		}
		columns = append(columns, c)
	}
	tab, err := table.New(samples.Table, columns)
	if err != nil {
		t.Fatal(err)
	}
	data := query.Data{Table: tab}
	run := &frame.Run{ID: "all", Name: "all", Kind: "samples"}
	run.Put(&memory.Samples{Run: run, Data: data, Engine: naive.New(data)})
	s := newTestServer(t, nil)
	s.Add(run)
	type told struct {
		Title     string `json:"title"`
		Head      string `json:"head"`
		Names     bool   `json:"names"`
		Cost      int    `json:"cost"`
		Axis      string `json:"axis"`
		AxisPlace int    `json:"axisPlace"`
	}
	all := map[string]told{}
	for _, c := range get[frame.Info](t, do(s, "GET", "/api/v1/runs/all", ""), 200).Columns {
		all[c.Name] = told{c.Title, c.Head, c.Names, c.Cost, c.Axis, c.AxisPlace}
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	compareFile(t, filepath.Join(test.Root(), "web", "src", "api", "testdata", "schema.json"), append(text, '\n'))
}
