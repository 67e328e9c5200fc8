package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
)

// load is how much is asked at once: make load sets it, make test has a share.
type load struct {
	clients, rows int
	time          time.Duration
}

func loadOf(t *testing.T) load {
	text := os.Getenv("ISOBATH_LOAD")
	if text == "" {
		return load{8, 100_000, 2 * time.Second}
	}
	var l load
	var seconds int
	if _, err := fmt.Sscanf(text, "%d %d %d", &l.clients, &l.rows, &seconds); err != nil {
		t.Fatalf("ISOBATH_LOAD=%q: want clients, rows and seconds: %v", text, err)
	}
	l.time = time.Duration(seconds) * time.Second
	return l
}

// bigRun writes a run of so many rows.
func (v *victim) bigRun(rows int) string {
	v.t.Helper()
	times, cpus, latencies, levels, addresses := make([]int64, rows), make([]int64, rows), make([]int64, rows), make([]uint32, rows), make([]uint64, rows)
	for i := range rows {
		hash := uint64(i) * 0x9e3779b97f4a7c15
		times[i], cpus[i], latencies[i] = int64(i)*100, int64(hash>>60), int64(hash>>54)
		levels[i], addresses[i] = uint32(hash>>62), 0x10000+hash>>40<<6
	}
	samples, err := table.New("samples", []*table.Column{
		table.Ints("time", "ns", table.Measured, times, nil),
		table.Ints("cpu", "", table.Measured, cpus, nil),
		table.Ints("latency", "cycles", table.Measured, latencies, nil),
		table.Categories("level", table.Measured, levels, []string{"L1", "L2", "L3", "Local RAM"}, nil),
		table.Addresses("addr", table.Measured, addresses, nil),
	})
	if err != nil {
		v.t.Fatal(err)
	}
	const name = "big" + run.Suffix
	r := &run.Run{Contents: []*table.Table{samples}, Manifest: run.Manifest{Kind: kind.Samples, Format: "test"}}
	if err := r.Write(v.t.Context(), filepath.Join(v.work, name), false); err != nil {
		v.t.Fatal(err)
	}
	return name
}

// brush is a question of a page while an axis is brushed: six axes, the pairs of
// neighbours, groups.
func brush(client, step int) string {
	from := (client*131 + step*17) % 900
	return fmt.Sprintf(`{"where":"latency in %d..%d","axes":[{"column":"time"},{"column":"cpu"},{"column":"latency"},{"column":"level"},{"column":"addr"}],`+
		`"pairs":[[0,1],[1,2],[2,3],[3,4]],"groups":[{"by":["level"],"sum":"latency"}]}`, from, from+120)
}

// stalled asks over and over and reads nothing, as a page does whose machine sleeps.
func (p *page) stalled(t *testing.T, path, body string, header string) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(p.base, "http://"), "/api/v1/"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.(*net.TCPConn).SetReadBuffer(1 << 10); err != nil {
		t.Fatal(err)
	}
	request := fmt.Sprintf("POST /api/v1/%s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s: %s\r\n%sContent-Length: %d\r\n\r\n%s", path, server.TokenHeader, p.token, header, len(body), body)
	_ = c.SetWriteDeadline(time.Now().Add(2 * time.Second))
	w := bufio.NewWriter(c)
	for range 200 {
		if _, err := w.WriteString(request); err != nil {
			return // the server has stopped to read: that is what is wanted
		}
	}
	w.Flush()
}

// TestLoad lets many clients brush one run at once, beside some that have stopped
// to read: nobody gets an error, and an analysis ends.
func TestLoad(t *testing.T) {
	l := loadOf(t)
	v := newVictim(t, t.TempDir())
	p := v.serve(v.bigRun(l.rows))
	defer p.kill()
	id := p.run(t)
	before := residentOf(t, p.cmd.Process.Pid, "VmRSS:")
	for range 4 {
		p.stalled(t, "runs/"+id+"/ask", brush(1, 1), "")
		p.stalled(t, "runs/"+id+"/insights", "{}", "Accept: text/event-stream\r\n")
	}
	cold := time.Now() // the first answer makes what the others share
	if err := p.asks(http.DefaultClient, "runs/"+id+"/ask", brush(0, 0)); err != nil {
		t.Fatal(err)
	}
	first := time.Since(cold)
	took, errors := p.brushing(l, id)
	for _, err := range errors[:min(len(errors), 5)] {
		t.Error(err)
	}
	if len(took) < l.clients {
		t.Fatalf("%d answers for %d clients", len(took), l.clients)
	}
	if status, err := p.do("POST", "runs/"+id+"/insights", "{}", nil); err != nil || status != http.StatusOK {
		t.Errorf("an analysis beside clients that stopped: %d, %v", status, err)
	}
	slices.Sort(took)
	t.Logf("%d clients on %d rows for %v: first answer %v, then %d answers, %d errors, median %v, p99 %v, slowest %v; memory %d MB before, %d MB now, %d MB at most",
		l.clients, l.rows, l.time, first, len(took), len(errors), took[len(took)/2], took[len(took)*99/100], took[len(took)-1],
		before>>20, residentOf(t, p.cmd.Process.Pid, "VmRSS:")>>20, residentOf(t, p.cmd.Process.Pid, "VmHWM:")>>20)
}

// brushing asks with every client until the time is over.
func (p *page) brushing(l load, id string) (took []time.Duration, errors []error) {
	transport := &http.Transport{MaxIdleConnsPerHost: l.clients, MaxConnsPerHost: l.clients}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: 10 * time.Minute} // only ends what hangs
	end := time.Now().Add(l.time)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for c := range l.clients {
		wg.Go(func() {
			for step := 0; step == 0 || time.Now().Before(end); step++ {
				began := time.Now()
				err := p.asks(&client, "runs/"+id+"/ask", brush(c, step))
				mu.Lock()
				if took = append(took, time.Since(began)); err != nil {
					errors = append(errors, err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return took, errors
}

// asks reads a whole answer.
func (p *page) asks(client *http.Client, path, body string) error {
	r, err := http.NewRequest("POST", p.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set(server.TokenHeader, p.token)
	w, err := client.Do(r)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err == nil && w.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d %s", w.StatusCode, bytes.TrimSpace(text))
	}
	return err
}

// residentOf reads a size of a process, in bytes.
func residentOf(t *testing.T, pid int, field string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), field)
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
