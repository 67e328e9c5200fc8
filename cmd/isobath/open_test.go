package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// opened runs `isobath open` on files and returns how to ask its server, until
// the test ends.
func opened(t *testing.T, files ...string) func(path string, answer any) {
	t.Helper()
	return openedFrom(t, strings.NewReader(""), append([]string{"open"}, files...)...)
}

// openedFrom is opened with something at standard input, and words that may
// begin with a verb.
func openedFrom(t *testing.T, stdin io.Reader, words ...string) func(path string, answer any) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	root := newRoot()
	root.SetArgs(withVerb(root, append(words, "--no-browser", "--port", "0")))
	root.SetIn(stdin)
	root.SetOut(in)
	end := make(chan error, 1)
	go func() {
		err := root.ExecuteContext(ctx)
		in.CloseWithError(fmt.Errorf("open ended: %v", err))
		end <- err
	}()
	t.Cleanup(func() {
		cancel()
		<-end
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	fragment, err := url.ParseQuery(at.Fragment)
	if err != nil {
		t.Fatal(err)
	}
	return func(path string, answer any) {
		t.Helper()
		q, err := http.NewRequest("GET", "http://"+at.Host+"/api/v1/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set(server.TokenHeader, fragment.Get("k"))
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if r.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %s", path, r.Status)
		}
		if err := json.NewDecoder(r.Body).Decode(answer); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOpenTogether: a trace and samples are one run; two traces are two.
func TestOpenTogether(t *testing.T) {
	dir := t.TempDir()
	var traces []string
	for _, name := range []string{"a.otf2", "b.otf2"} {
		path := filepath.Join(dir, name)
		p, err := mpiprog.New(path, 2)
		if err != nil {
			t.Fatal(err)
		}
		p.Collective(mpiprog.World, mpiprog.Barrier)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		traces = append(traces, path)
	}
	samples := filepath.Join(dir, "s.csv")
	if err := os.WriteFile(samples, []byte("time,cpu,rank,latency\n1000,0,0,5\n1500,0,1,5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		files []string
		want  []string
	}{
		{[]string{traces[0], samples}, []string{"a.otf2 + s.csv"}},
		{traces, []string{"a.otf2", "b.otf2"}},
	} {
		ask := opened(t, tt.files...)
		var home frame.Home
		// A slow machine may still be reading when the address is printed.
		for ask("runs", &home); len(home.Jobs) > 0; ask("runs", &home) {
			time.Sleep(20 * time.Millisecond)
		}
		var names []string
		for _, r := range home.Runs {
			names = append(names, r.Name)
		}
		if len(names) != len(tt.want) {
			t.Fatalf("open %v shows %v, want %v", tt.files, names, tt.want)
		}
		if len(names) == 1 {
			var info frame.Info
			ask("runs/"+home.Runs[0].ID, &info)
			if !info.Trace || info.Rows != 2 || names[0] != tt.want[0] {
				t.Errorf("the run is %+v", info.RunSummary)
			}
		}
	}
}

// TestOpenExampleHasItsMesh: samples of the stencil program lie on its mesh however
// they are opened; those of other programs, and on other meshes, do not.
func TestOpenExampleHasItsMesh(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	for _, c := range []struct {
		words []string
		want  []bool
	}{
		{[]string{"demo"}, []bool{true}},
		{[]string{"demo", "demo:fixed"}, []bool{true, true}},
		{[]string{"demo", "--mesh", "demo:mesh"}, []bool{true}},
		{[]string{"demo:lookup"}, []bool{false}},
	} {
		ask := opened(t, c.words...)
		var home frame.Home
		for ask("runs", &home); len(home.Jobs) > 0; ask("runs", &home) {
			time.Sleep(20 * time.Millisecond)
		}
		var got []bool
		for _, r := range home.Runs {
			var info frame.Info
			ask("runs/"+r.ID, &info)
			got = append(got, info.Mesh)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("open %v: on a mesh %v, want %v", c.words, got, c.want)
		}
	}
}
