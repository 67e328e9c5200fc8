package server

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/server/frame"
)

// readEvents reads a stream of events to its end.
func readEvents(t *testing.T, r *http.Response) (names []string, last frame.Job) {
	t.Helper()
	defer r.Body.Close()
	if got := r.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("type %q", got)
	}
	in := bufio.NewScanner(r.Body)
	for in.Scan() {
		if name, ok := strings.CutPrefix(in.Text(), "event: "); ok {
			names = append(names, name)
		}
		if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
			if err := json.Unmarshal([]byte(data), &last); err != nil {
				t.Fatal(err)
			}
		}
	}
	return names, last
}

func request(t *testing.T, method, url, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(TokenHeader, testToken)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestEvents follows an import that reports twice and then waits for the test.
func TestEvents(t *testing.T) {
	proceed := make(chan struct{})
	s := newTestServer(t, func(o *Options) {
		o.Open = func(ctx context.Context, path string, progress func(frame.Progress)) (*frame.Run, error) {
			progress(frame.Progress{Done: 10, Total: 100, Rows: 1})
			<-proceed
			progress(frame.Progress{Stage: "placing", Done: 100, Total: 100, Rows: 6})
			run := sixSamples(t)
			run.ID, run.Warnings = "new", []string{"one row was damaged"}
			return run, nil
		}
	})
	web := httptest.NewServer(s)
	defer web.Close()
	job := get[frame.Job](t, do(s, "POST", "/api/v1/open", `{"path":"/data/x.csv"}`), 202)
	if job.Name != "x.csv" || job.State != "running" {
		t.Errorf("job %+v", job)
	}
	stream := request(t, "GET", web.URL+"/api/v1/jobs/"+job.ID+"/events", "")
	close(proceed)
	names, last := readEvents(t, stream)
	if len(names) < 2 || names[0] != "progress" || names[len(names)-1] != "done" {
		t.Errorf("events %q", names)
	}
	if last.Run != "new" || len(last.Warnings) != 1 || last.State != "done" || last.Progress.Rows != 6 {
		t.Errorf("end %+v", last)
	}
	// A stream opened after the end gives the end at once.
	names, last = readEvents(t, request(t, "GET", web.URL+"/api/v1/jobs/"+job.ID+"/events", ""))
	if len(names) != 1 || names[0] != "done" || last.Run != "new" {
		t.Errorf("afterwards: %q, %+v", names, last)
	}
	get[frame.Info](t, do(s, "GET", "/api/v1/runs/new", ""), 200)
}

func TestJobFails(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.Open = func(context.Context, string, func(frame.Progress)) (*frame.Run, error) {
			return nil, errors.New("x.bin: unknown format; see 'isobath help formats'")
		}
	})
	job := get[frame.Job](t, do(s, "POST", "/api/v1/open", `{"path":"/data/x.bin"}`), 202)
	s.jobs.wait()
	job = get[frame.Job](t, do(s, "GET", "/api/v1/jobs/"+job.ID, ""), 200)
	if job.State != "failed" || job.Failure == nil || job.Failure.Error != "x.bin: unknown format" || job.Failure.Hint != "see 'isobath help formats'" {
		t.Errorf("%+v, %+v", job, job.Failure)
	}
	get[frame.Failure](t, do(s, "POST", "/api/v1/open", `{"path":"x.bin"}`), 400)
	get[frame.Failure](t, do(s, "GET", "/api/v1/jobs/99/events", ""), 404)
}

// TestOrderOfImports: runs are listed as their files were named, whichever is
// read first.
func TestOrderOfImports(t *testing.T) {
	read := map[string]chan struct{}{"/data/a": make(chan struct{}), "/data/b": make(chan struct{}), "/data/c": make(chan struct{})}
	s := newTestServer(t, func(o *Options) {
		o.Open = func(_ context.Context, path string, _ func(frame.Progress)) (*frame.Run, error) {
			<-read[path]
			run := sixSamples(t)
			run.ID, run.Path = filepath.Base(path), path
			return run, nil
		}
	})
	ended := make(chan frame.Job)
	for _, name := range []string{"/data/a", "/data/b", "/data/c"} {
		s.Import(name, func(j frame.Job) { ended <- j })
	}
	for _, name := range []string{"/data/c", "/data/a", "/data/b"} {
		close(read[name])
		<-ended
	}
	var got []string
	for _, run := range get[frame.Home](t, do(s, "GET", "/api/v1/runs", ""), 200).Runs {
		got = append(got, run.ID)
	}
	if want := []string{"six", "a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("runs are listed as %v, want %v", got, want)
	}
}

func TestCancelJob(t *testing.T) {
	started := make(chan struct{})
	s := newTestServer(t, func(o *Options) {
		o.Open = func(ctx context.Context, _ string, _ func(frame.Progress)) (*frame.Run, error) {
			close(started)
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	job := get[frame.Job](t, do(s, "POST", "/api/v1/open", `{"path":"/data/x.csv"}`), 202)
	<-started
	if home := get[frame.Home](t, do(s, "GET", "/api/v1/runs", ""), 200); len(home.Jobs) != 1 {
		t.Errorf("jobs %+v", home.Jobs)
	}
	if w := do(s, "DELETE", "/api/v1/jobs/"+job.ID, ""); w.Code != 204 {
		t.Errorf("cancel: %d", w.Code)
	}
	s.jobs.wait()
	if job = get[frame.Job](t, do(s, "GET", "/api/v1/jobs/"+job.ID, ""), 200); job.State != "cancelled" || job.Failure != nil {
		t.Errorf("%+v", job)
	}
}

// TestCancelledTooLate: an import that finishes although it was cancelled must
// not leave its run open.
func TestCancelledTooLate(t *testing.T) {
	closed := make(chan struct{})
	s := newTestServer(t, func(o *Options) {
		o.Open = func(ctx context.Context, _ string, _ func(frame.Progress)) (*frame.Run, error) {
			<-ctx.Done()
			return &frame.Run{ID: "late", Release: func() error { close(closed); return nil }}, nil
		}
	})
	job := get[frame.Job](t, do(s, "POST", "/api/v1/open", `{"path":"/data/x.csv"}`), 202)
	do(s, "DELETE", "/api/v1/jobs/"+job.ID, "")
	<-closed
	s.jobs.wait()
	if w := do(s, "GET", "/api/v1/runs/late", ""); w.Code != 404 {
		t.Errorf("the run is shown: %d", w.Code)
	}
}

func TestUpload(t *testing.T) {
	var opened, text string
	s := newTestServer(t, func(o *Options) {
		o.UploadLimit = 1 << 16
		o.Open = func(_ context.Context, path string, _ func(frame.Progress)) (*frame.Run, error) {
			opened = path
			b, err := os.ReadFile(path)
			if err != nil {
				b, err = os.ReadFile(filepath.Join(path, "traces", "0.evt"))
			}
			text = string(b)
			return nil, errors.Join(errors.New("enough"), err)
		}
	})
	for _, tt := range []struct{ name, want string }{
		{"x.csv", "x.csv"}, {"../../x.csv", "x.csv"}, {`..\..\x.csv`, "x.csv"}, {"/etc/passwd", "passwd"},
	} {
		get[frame.Job](t, do(s, "POST", "/api/v1/upload?name="+tt.name, "a,b\n1,2\n"), 202)
		s.jobs.wait()
		if filepath.Base(opened) != tt.want || text != "a,b\n1,2\n" || !strings.HasPrefix(opened, s.uploads.folder) {
			t.Errorf("%s: opened %s with %q", tt.name, opened, text)
		}
		if info, err := os.Stat(opened); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode of the upload: %v, %v", info.Mode(), err)
		}
	}
	get[frame.Failure](t, do(s, "POST", "/api/v1/upload?name=..", "x"), 400)
	get[frame.Failure](t, do(s, "POST", "/api/v1/upload", "x"), 400)
	f := get[frame.Failure](t, do(s, "POST", "/api/v1/upload?name=big", strings.Repeat("x", 1<<16+1)), 413)
	if !strings.Contains(f.Error, "too large") || f.Hint == "" {
		t.Errorf("%+v", f)
	}

	get[frame.Job](t, do(s, "POST", "/api/v1/upload?name=run.otf2", archive(t, "traces/0.evt", "EVENTS"), "Content-Type", "application/x-tar"), 202)
	s.jobs.wait()
	if filepath.Base(opened) != "run.otf2" || text != "EVENTS" {
		t.Errorf("folder: opened %s with %q", opened, text)
	}
	for _, bad := range []string{"../x", "/etc/x", "a/../../x"} {
		f := get[frame.Failure](t, do(s, "POST", "/api/v1/upload?name=d", archive(t, bad, "x"), "Content-Type", "application/x-tar"), 400)
		if !strings.Contains(f.Error, "unpacked") {
			t.Errorf("%s: %+v", bad, f)
		}
	}
	folder := s.uploads.folder
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("uploads are left behind")
	}
}

func archive(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))})
	_, err2 := w.Write([]byte(text))
	if err := errors.Join(err, err2, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRecent(t *testing.T) {
	dir := t.TempDir()
	r := recent{file: filepath.Join(dir, "sub", "recent.json")}
	var paths []string
	for i := range keepRecent + 3 {
		p := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
		r.add(p, filepath.Base(p))
	}
	r.add(paths[5], "5")
	os.Remove(paths[7])
	got := r.list()
	if len(got) != keepRecent-1 || got[0].Name != "5" || got[1].Path != paths[keepRecent+2] {
		t.Errorf("recent %+v", got)
	}
}
