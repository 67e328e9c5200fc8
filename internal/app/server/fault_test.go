package server

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
)

// bigRun writes a run whose columns are some pages long.
func bigRun(t *testing.T) string {
	t.Helper()
	const n = 200_000
	values, codes := make([]int64, n), make([]uint32, n)
	for i := range values {
		values[i], codes[i] = int64(i)*7919%100_003, uint32(i%3)
	}
	tab, err := table.New("samples", []*table.Column{
		table.Ints("cpu", "", table.Measured, values, nil),
		table.Ints("latency", "cycles", table.Measured, values, nil),
		table.Categories("level", table.Measured, codes, []string{"L1", "L2", "L3"}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "big"+run.Suffix)
	r := &run.Run{Contents: []*table.Table{tab}, Manifest: run.Manifest{Kind: kind.Samples, Format: "test"}}
	if err := r.Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	return path
}

// A run that somebody truncates or writes over while it is shown is said to have
// changed; the server and its other runs live on.
func TestRunChangesWhileItIsShown(t *testing.T) {
	questions := []string{
		`{"axes":[{"column":"latency"},{"column":"cpu"}],"pairs":[[0,1]]}`,
		`{"where":"latency > 100","axes":[{"column":"level"}],"groups":[{"by":["level"],"sum":"latency"}]}`,
		`{"rows":{"offset":150000,"count":10,"sort":"latency"}}`,
		`{"stats":[{"column":"latency","quantiles":[0.5]}]}`,
	}
	damages := map[string]func(file string) error{
		"truncated": func(file string) error { return os.Truncate(file, 4096) },
		"empty":     func(file string) error { return os.Truncate(file, 0) },
		"written over": func(file string) error {
			info, err := os.Stat(file)
			if err != nil {
				return err
			}
			f, err := os.OpenFile(file, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.Write(bytes.Repeat([]byte{0xff}, int(info.Size())))
			return err
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t, nil)
			path := bigRun(t)
			r, err := NewLoader(dataset.Options{}).Open(t.Context(), path, func(frame.Progress) {})
			if err != nil {
				t.Fatal(err)
			}
			s.Add(r)
			get[frame.Info](t, do(s, "GET", "/api/v1/runs/"+r.ID, ""), 200)
			if err := damage(filepath.Join(path, "samples.arrow")); err != nil {
				t.Fatal(err)
			}
			changed := 0
			for _, q := range questions {
				w := do(s, "POST", "/api/v1/runs/"+r.ID+"/ask", q)
				switch {
				case w.Code == http.StatusConflict:
					changed++
					if f := get[frame.Failure](t, w, http.StatusConflict); !strings.Contains(f.Error, "changed") || strings.Contains(f.Error, "goroutine") {
						t.Errorf("%s: %+v", q, f)
					}
				case w.Code != 200 || name != "written over": // bytes that are still there are still numbers
					t.Errorf("%s: %d %.300s", q, w.Code, w.Body)
				}
			}
			if changed == 0 {
				t.Error("no answer said that the file changed")
			}
			get[frame.Info](t, do(s, "GET", "/api/v1/runs/six", ""), 200)
		})
	}
}

// What panics is written to a report without data, which the answer names.
func TestFaultReport(t *testing.T) {
	faults := filepath.Join(t.TempDir(), "faults")
	s := newTestServer(t, func(o *Options) {
		o.Faults = faults
		o.Open = func(context.Context, string, func(frame.Progress)) (*frame.Run, error) {
			panic("the password is hunter2")
		}
	})
	job := get[frame.Job](t, do(s, "POST", "/api/v1/open", `{"path":"/data/hunter2.bin"}`), 202)
	s.jobs.wait()
	job = get[frame.Job](t, do(s, "GET", "/api/v1/jobs/"+job.ID, ""), 200)
	if job.State != "failed" || job.Failure == nil || !strings.Contains(job.Failure.Hint, faults) || strings.Contains(job.Failure.Error, "goroutine") {
		t.Fatalf("%+v", job.Failure)
	}
	names, err := os.ReadDir(faults)
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	text, err := os.ReadFile(filepath.Join(faults, names[0].Name()))
	if err != nil || strings.Contains(string(text), "hunter2") || !strings.Contains(string(text), "fault_test.go") || !strings.Contains(string(text), "while: an import") {
		t.Errorf("%v\n%s", err, text)
	}
	get[frame.Info](t, do(s, "GET", "/api/v1/runs/six", ""), 200)
}
