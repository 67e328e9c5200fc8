package link

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/mesh"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// result is one line of testdata/viewer.py.
type result struct {
	What       string       `json:"what"`
	Times      int          `json:"times"`
	Mode       string       `json:"mode"`
	Iteration  int64        `json:"iteration"`
	Physics    bool         `json:"physics"`
	LatencySum []*float64   `json:"latency_sum"`
	Samples    any          `json:"samples"`
	Counts     mesh.Counts  `json:"counts"`
	Cells      []int        `json:"cells"`
	Heard      bool         `json:"heard"`
	Levels     [][]*float64 `json:"levels"`
	Text       string       `json:"text"`
}

// viewer is a running ParaView.
type viewer struct {
	t    *testing.T
	in   io.Writer
	out  *bufio.Scanner
	cmd  *exec.Cmd
	text strings.Builder
}

func startViewer(t *testing.T, tokenFile, png string, args ...string) *viewer {
	t.Helper()
	pvpython := test.Peer(t, "pvpython", "paraview")
	v := &viewer{t: t, cmd: exec.Command(pvpython, append([]string{"--force-offscreen-rendering", "testdata/viewer.py"}, args...)...)}
	v.cmd.Env = append(display(t), "ISOBATH_LINK="+tokenFile, "ISOBATH_PNG="+png, "ISOBATH_CLIENTS="+filepath.Join(test.Root(), "clients"))
	v.cmd.Stderr = &v.text
	in, err := v.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	startGroup(t, v.cmd)
	v.in, v.out = in, bufio.NewScanner(out)
	v.out.Buffer(nil, 64<<20)
	return v
}

// startGroup starts a viewer in a process group of its own and ends the whole group
// with the test: paraview and pvpython are scripts or launchers on some systems.
func startGroup(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
}

// next returns the next result; what must be as expected.
func (v *viewer) next(what string) result {
	v.t.Helper()
	for v.out.Scan() {
		text, ok := strings.CutPrefix(v.out.Text(), "RESULT ")
		if !ok {
			continue
		}
		var r result
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			v.t.Fatal(err)
		}
		if r.What != what {
			v.t.Fatalf("ParaView says %q, want %q", r.What, what)
		}
		return r
	}
	_ = v.cmd.Wait()
	v.t.Fatalf("ParaView ended before %q: %s", what, v.text.String())
	return result{}
}

// serveFile serves a session and writes its token file; stop ends it.
func serveFile(t *testing.T, s *Session, tokenFile string) (stop func()) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	token := rand.Text()
	if err := WriteToken(tokenFile, ln.Addr().String(), token); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- NewServer(s, token, slog.New(slog.DiscardHandler)).Serve(ctx, ln) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestParaView opens the LULESH dumps in ParaView, unchanged, with the real
// samples of a LULESH run: fields in three modes are those the command prints,
// a selection made elsewhere arrives, cells picked there select samples here,
// and a restart of the program is survived.
func TestParaView(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(test.Fixture(t, "mesh/lulesh"), "lulesh_c*.vtk"))
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	samples := test.Shared(t, "samples/lulesh_legacy")
	test.Peer(t, "pvpython", "paraview")
	binary := filepath.Join(t.TempDir(), "isobath")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/isobath/isobath/cmd/isobath").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	newSession := func() *Session {
		set, err := dataset.Open(context.Background(), samples, dataset.Options{Options: foreign.Options{L1Latency: -1}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { set.Close() })
		series, err := mesh.Open(t.Context(), files...)
		if err != nil {
			t.Fatal(err)
		}
		view, err := mesh.NewView(t.Context(), series, set.Table, mesh.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		set.Data.RowSets.FindBy(view.RowsOfSet)
		return NewSession(set.Table, set.Engine, Mesh{Name: "lulesh", View: view})
	}
	dir := t.TempDir()
	tokenFile, png := filepath.Join(dir, "link"), filepath.Join(dir, "view.png")
	session := newSession()
	stop := serveFile(t, session, tokenFile)
	v := startViewer(t, tokenFile, png, append([]string{"lulesh"}, files...)...)
	if r := v.next("opened"); r.Times != 5 {
		t.Errorf("ParaView sees %d time steps", r.Times)
	}
	used := map[string]int{}
	for _, mode := range []string{"all", "upto", "only"} {
		for _, iteration := range []int64{60, 180, 300, 420, 540} {
			r := v.next("field")
			if r.Mode != mode || r.Iteration != iteration || !r.Physics {
				t.Fatalf("%s at %d (physics %v), want %s at %d", r.Mode, r.Iteration, r.Physics, mode, iteration)
			}
			used[mode] += r.Counts.Used
			compareWithVerb(t, binary, samples, files, r)
		}
	}
	if used["only"] == 0 || used["all"] <= used["upto"] {
		t.Errorf("samples used: %v", used)
	}
	p := v.next("picked")
	if got := fmt.Sprint(session.Cells(t.Context(), "lulesh")); got != fmt.Sprint(p.Cells) || len(p.Cells) == 0 {
		t.Errorf("picked %v in ParaView, %s here", p.Cells, got)
	}
	if !p.Heard {
		t.Error("the other viewer did not hear of the pick")
	}
	if rows, _, err := session.Rows(context.Background()); err != nil || float64(rows.Count()) != p.Samples {
		t.Errorf("%d samples selected, ParaView was told %v", rows.Count(), p.Samples)
	}
	if text, _ := session.Text(); !strings.HasPrefix(text, "cpu in 0..10 & rows \"cells ") {
		t.Errorf("the pick changed the ranges to %s", text)
	}
	if info, err := os.Stat(png); err != nil || info.Size() < 5000 {
		t.Errorf("picture: %v", err)
	}
	v.next("restart")
	stop()
	stop = serveFile(t, newSession(), tokenFile)
	defer stop()
	fmt.Fprintln(v.in, "go on")
	again := v.next("again")
	sum := 0.0
	for _, x := range again.LatencySum {
		if x != nil {
			sum += *x
		}
	}
	if sum == 0 {
		t.Error("no field after the restart")
	}
}

// TestParaViewWindow starts the program with a window, from another folder and
// without a hint where the script lies: a selection made here arrives there by itself.
func TestParaViewWindow(t *testing.T) {
	paraview := test.Peer(t, "paraview", "paraview")
	file := filepath.Join(test.Fixture(t, "mesh/lulesh"), "lulesh_c0540.vtk")
	session := threeSamples(t, file)
	dir := t.TempDir()
	tokenFile := filepath.Join(dir, "link")
	defer serveFile(t, session, tokenFile)()
	heard := listenIn(t, tokenFile)
	cmd := exec.Command(paraview, "--script="+filepath.Join(test.Root(), "clients", "paraview_isobath.py"))
	cmd.Dir = dir
	cmd.Env = append(display(t), "ISOBATH_LINK="+tokenFile, "ISOBATH_DUMPS="+file, "HOME="+dir)
	startGroup(t, cmd)
	heard.waitFor(t, `"used":3`)
	if _, n, err := session.SetWhere(context.Background(), "latency > 3", "page"); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	heard.waitFor(t, `"used":2`)
}

// wire is what a server said to its viewers.
type wire struct {
	mu   sync.Mutex
	text []byte
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	return len(p), nil
}

// waitFor waits for a text. ParaView takes a minute to start where others need the
// processor.
func (w *wire) waitFor(t *testing.T, text string) {
	t.Helper()
	for range 6000 {
		w.mu.Lock()
		found := bytes.Contains(w.text, []byte(text))
		w.mu.Unlock()
		if found {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s was not said in ten minutes", text)
}

// listenIn puts itself between the server of a token file and its viewers, and
// rewrites the file.
func listenIn(t *testing.T, tokenFile string) *wire {
	t.Helper()
	text, err := os.ReadFile(tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	behind, token, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	if err := os.Remove(tokenFile); err != nil {
		t.Fatal(err)
	}
	if err := WriteToken(tokenFile, ln.Addr().String(), token); err != nil {
		t.Fatal(err)
	}
	heard := &wire{}
	go func() {
		for {
			viewer, err := ln.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", behind)
			if err != nil {
				viewer.Close()
				return
			}
			go func() { _, _ = io.Copy(server, viewer); server.Close() }()
			go func() { _, _ = io.Copy(viewer, io.TeeReader(server, heard)); viewer.Close() }()
		}
	}()
	return heard
}

// plainDumps writes three dumps of ten cells that do not say their iteration, and
// opens them with a sample on cell k at iteration 10, 20 and 30 for k = 1, 2, 3.
func plainDumps(t *testing.T) (*Session, []string) {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for _, iteration := range []int{10, 20, 30} {
		file := filepath.Join(dir, fmt.Sprintf("dump_%03d.vti", iteration))
		text := `<VTKFile type="ImageData" version="1.0"><ImageData WholeExtent="0 10 0 1 0 1" Origin="0 0 0" Spacing="1 1 1">` +
			`<Piece Extent="0 10 0 1 0 1"><CellData><DataArray type="Float64" Name="e" format="ascii">0 1 2 3 4 5 6 7 8 9</DataArray></CellData></Piece></ImageData></VTKFile>`
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return samplesOn(t, nil, []int64{1, 2, 3, 6, 7, 7, 9}, []int64{10, 20, 30, 30, 30, 30, 30}, files...), files
}

func samplesOn(t *testing.T, domain *table.Column, cells, iterations []int64, files ...string) *Session {
	t.Helper()
	series, err := mesh.Open(t.Context(), files...)
	if err != nil {
		t.Fatal(err)
	}
	latency := make([]int64, len(cells))
	for i := range latency {
		latency[i] = int64(3 + i)
	}
	columns := []*table.Column{{Name: "cell", Data: cells}, {Name: "latency", Provenance: table.Measured, Data: latency}, {Name: "iteration", Data: iterations}}
	if domain != nil {
		columns = append(columns, domain)
	}
	tab, err := table.New("samples", columns)
	if err != nil {
		t.Fatal(err)
	}
	view, err := mesh.NewView(t.Context(), series, tab, mesh.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return NewSession(tab, engineFor(tab, view), Mesh{Name: "dumps", View: view})
}

// perCell is the number of samples on each cell of a result.
func (r result) perCell() map[int]float64 {
	found := map[int]float64{}
	for i, v := range r.Samples.([]any) {
		if n, ok := v.(float64); ok && n > 0 {
			found[i] = n
		}
	}
	return found
}

// TestParaViewSteps opens dumps without a cycle array: each step shows its own
// iteration, and where that cannot be known it is said.
func TestParaViewSteps(t *testing.T) {
	session, files := plainDumps(t)
	tokenFile := filepath.Join(t.TempDir(), "link")
	defer serveFile(t, session, tokenFile)()
	v := startViewer(t, tokenFile, "", append([]string{"series"}, files...)...)
	for k, want := range []map[int]float64{{1: 1}, {2: 1}, {3: 1, 6: 1, 7: 2, 9: 1}} {
		if got := v.next("step").perCell(); !maps.Equal(got, want) {
			t.Errorf("step %d shows %v, want %v", k, got, want)
		}
	}
	if r := v.next("picked"); r.Samples != 2.0 || fmt.Sprint(session.Cells(t.Context(), "dumps")) != "[6 7]" {
		t.Errorf("picked %v cells on a threshold, %v here", r.Samples, session.Cells(t.Context(), "dumps"))
	}
	if r := v.next("refused"); !strings.Contains(r.Text, "3 dumps") {
		t.Errorf("two of three dumps: %q", r.Text)
	}
}

// oldFunction gives Python back what ParaView 5.11 calls and Python 3.11 no longer has;
// a server loads it before any plugin.
const oldFunction = "import inspect\nif not hasattr(inspect, 'getargspec'):\n    inspect.getargspec = inspect.getfullargspec\n"

// startPVServer starts a pvserver on loopback that finds the link by itself, and returns
// its port when it waits for a client.
func startPVServer(t *testing.T, tokenFile string) string {
	t.Helper()
	pvserver := test.Peer(t, "pvserver", "paraview")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sitecustomize.py"), []byte(oldFunction), 0o600); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err := errors.Join(err, ln.Close()); err != nil {
		t.Fatal(err)
	}
	loopback := filepath.Join(dir, "loopback.so")
	if out, err := exec.Command(test.Peer(t, "gcc", "gcc"), "-shared", "-fPIC", "-o", loopback, "testdata/loopback.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(pvserver, "--force-offscreen-rendering", "--server-port="+port)
	cmd.Env = append(display(t), "ISOBATH_LINK="+tokenFile, "PYTHONPATH="+dir, "LD_PRELOAD="+loopback)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	startGroup(t, cmd)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "Accepting connection") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			onLoopback(t, port)
			return port
		}
	}
	_ = cmd.Wait()
	t.Fatalf("pvserver ended: %s", said.String())
	return ""
}

// onLoopback holds that nobody listens on a port from other machines.
func onLoopback(t *testing.T, port string) {
	t.Helper()
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), fmt.Sprintf("0100007F:%04X 00000000:0000 0A", n)) {
		t.Fatalf("pvserver does not listen on 127.0.0.1:%s alone", port)
	}
}

// TestParaViewServer runs the filter in a pvserver: each step shows its own iteration,
// and cells picked in the client select samples.
func TestParaViewServer(t *testing.T) {
	session, files := plainDumps(t)
	tokenFile := filepath.Join(t.TempDir(), "link")
	defer serveFile(t, session, tokenFile)()
	port := startPVServer(t, tokenFile)
	// The client does not know the link: only the server can have asked for the fields.
	v := startViewer(t, filepath.Join(t.TempDir(), "none"), "", append([]string{"server", port}, files...)...)
	for k, want := range []map[int]float64{{1: 1}, {2: 1}, {3: 1, 6: 1, 7: 2, 9: 1}} {
		if got := v.next("step").perCell(); !maps.Equal(got, want) {
			t.Errorf("step %d shows %v, want %v", k, got, want)
		}
	}
	if r := v.next("picked"); r.Samples != 2.0 || fmt.Sprint(session.Cells(t.Context(), "dumps")) != "[7 9]" {
		t.Errorf("picked %v cells, %v here", r.Samples, session.Cells(t.Context(), "dumps"))
	}
	if rows, _, err := session.Rows(context.Background()); err != nil || rows.Count() != 3 {
		t.Errorf("%d samples selected of the three on the two cells, %v", rows.Count(), err)
	}
}

// TestParaViewBlocks picks cells of the second of two blocks.
func TestParaViewBlocks(t *testing.T) {
	_, files := plainDumps(t)
	all := filepath.Join(filepath.Dir(files[0]), "all.vtm")
	text := fmt.Sprintf(`<VTKFile type="vtkMultiBlockDataSet" version="1.0"><vtkMultiBlockDataSet><DataSet index="0" file=%q/><DataSet index="1" file=%q/></vtkMultiBlockDataSet></VTKFile>`,
		filepath.Base(files[0]), filepath.Base(files[1]))
	if err := os.WriteFile(all, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	session := samplesOn(t, &table.Column{Name: "domain", Data: []int64{0, 1, 1}}, []int64{4, 4, 5}, []int64{0, 0, 0}, all)
	tokenFile := filepath.Join(t.TempDir(), "link")
	defer serveFile(t, session, tokenFile)()
	v := startViewer(t, tokenFile, "", "blocks", all)
	r := v.next("levels")
	if len(r.Levels) != 2 || deref(r.Levels[0][4]) != 1 || deref(r.Levels[1][4]) != 1 || deref(r.Levels[1][5]) != 1 || deref(r.Levels[0][5]) > 0 {
		t.Errorf("samples on blocks: %v", r.Levels)
	}
	if r := v.next("picked"); r.Samples != 10.0 {
		t.Errorf("picked %v cells of ten", r.Samples)
	}
	if rows, _, err := session.Rows(context.Background()); err != nil || rows.Count() != 2 {
		t.Errorf("%d samples selected of the two on the second block, %v", rows.Count(), err)
	}
}

// threeSamples is a session of three samples on a mesh.
func threeSamples(t *testing.T, file string) *Session {
	t.Helper()
	return samplesOn(t, nil, []int64{0, 1, 7999}, []int64{1, 2, 3}, file)
}

// TestParaViewScript runs the script as a user does, for a picture.
func TestParaViewScript(t *testing.T) {
	file := filepath.Join(test.Fixture(t, "mesh/lulesh"), "lulesh_c0540.vtk")
	pvpython := test.Peer(t, "pvpython", "paraview")
	tokenFile, png := filepath.Join(t.TempDir(), "link"), filepath.Join(t.TempDir(), "out.png")
	defer serveFile(t, threeSamples(t, file), tokenFile)()
	cmd := exec.Command(pvpython, "--force-offscreen-rendering",
		filepath.Join(test.Root(), "clients", "paraview_isobath.py"), file, "--mode", "all", "--field", "latency_max", "--png", png)
	cmd.Env = append(display(t), "ISOBATH_LINK="+tokenFile)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if info, err := os.Stat(png); err != nil || info.Size() < 3000 {
		t.Errorf("picture: %v", err)
	}
}

// compareWithVerb checks a field ParaView shows against `isobath mesh --json`.
func compareWithVerb(t *testing.T, binary, samples string, files []string, r result) {
	t.Helper()
	args := []string{"mesh", samples, "--field", "latency_sum", "--mode", r.Mode, "--iteration", fmt.Sprint(r.Iteration),
		"--where", "cpu in 0..10", "--json", "--values"}
	for _, f := range files {
		args = append(args, "--mesh", f)
	}
	out, err := exec.Command(binary, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Values []*float64  `json:"values"`
		Counts mesh.Counts `json:"counts"`
	}
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	if r.Counts != want.Counts {
		t.Errorf("%s at %d: counts %+v, the command has %+v", r.Mode, r.Iteration, r.Counts, want.Counts)
	}
	if len(r.LatencySum) != len(want.Values) {
		t.Fatalf("%d values, the command has %d", len(r.LatencySum), len(want.Values))
	}
	for i, w := range want.Values {
		if got := r.LatencySum[i]; (got == nil) != (w == nil) || got != nil && *got != *w {
			t.Fatalf("%s at %d, cell %d: ParaView shows %v, the command prints %v", r.Mode, r.Iteration, i, deref(got), deref(w))
		}
	}
}

func deref(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// TestParaViewLevels shows samples on a mesh with refinement levels: one sample
// in every cell whose indices add up to a multiple of three, on its own level.
func TestParaViewLevels(t *testing.T) {
	file := test.Shared(t, "mesh/vtk/AMR/HierarchicalBoxDataset.v1.1.vthb")
	series, err := mesh.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := series.Mesh(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var cols [4][]int64
	var want [][]float64
	for l := range m.Levels {
		var level []float64
		for _, b := range m.Levels[l].Boxes {
			for k := b.Lo[2]; k <= b.Hi[2]; k++ {
				for j := b.Lo[1]; j <= b.Hi[1]; j++ {
					for i := b.Lo[0]; i <= b.Hi[0]; i++ {
						hit := (i+j+k)%3 == 0
						level = append(level, 0)
						if hit {
							level[len(level)-1] = 1
							for c, v := range []int{i, j, k, l} {
								cols[c] = append(cols[c], int64(v))
							}
						}
					}
				}
			}
		}
		want = append(want, level)
	}
	var columns []*table.Column
	for c, name := range []string{"x", "y", "z", "amr_level"} {
		columns = append(columns, &table.Column{Name: name, Data: cols[c]})
	}
	tab, err := table.New("samples", columns)
	if err != nil {
		t.Fatal(err)
	}
	view, err := mesh.NewView(t.Context(), series, tab, mesh.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	tokenFile := filepath.Join(dir, "link")
	stop := serveFile(t, NewSession(tab, engineFor(tab, view), Mesh{Name: "amr", View: view}), tokenFile)
	defer stop()
	v := startViewer(t, tokenFile, filepath.Join(dir, "view.png"), "amr", file)
	r := v.next("levels")
	if len(r.Levels) != len(want) {
		t.Fatalf("%d levels, want %d", len(r.Levels), len(want))
	}
	for l := range want {
		var got []float64
		for _, x := range r.Levels[l] {
			got = append(got, deref(x))
		}
		if !slices.Equal(got, want[l]) {
			t.Errorf("level %d differs in ParaView", l)
		}
	}
}
