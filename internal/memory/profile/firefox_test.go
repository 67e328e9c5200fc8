package profile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/xeipuuv/gojsonschema"

	"github.com/isobath/isobath/internal/base/test"
)

// geckoProfile is what a schema cannot say: rows of tables point into others.
type geckoProfile struct {
	Meta struct {
		Categories []struct{ Subcategories []string }
	}
	Threads []struct {
		Samples, FrameTable, StackTable, Markers struct{ Data [][]any }
		StringTable                              []string
	}
	Processes []json.RawMessage
}

// pointers holds every row against the tables it points into.
func (p *geckoProfile) pointers() error {
	for n, thread := range p.Threads {
		for _, column := range []struct {
			table string
			rows  [][]any
			at    int
			size  int
		}{
			{"samples", thread.Samples.Data, 0, len(thread.StackTable.Data)},
			{"stackTable", thread.StackTable.Data, 1, len(thread.FrameTable.Data)},
			{"frameTable", thread.FrameTable.Data, 0, len(thread.StringTable)},
			{"frameTable", thread.FrameTable.Data, 6, len(p.Meta.Categories)},
			{"markers", thread.Markers.Data, 0, len(thread.StringTable)},
			{"markers", thread.Markers.Data, 4, len(p.Meta.Categories)},
		} {
			for i, row := range column.rows {
				if column.at >= len(row) || row[column.at] == nil {
					continue
				}
				if to := int(row[column.at].(float64)); to >= column.size {
					return fmt.Errorf("thread %d: row %d of %s points to %d of %d", n, i, column.table, to, column.size)
				}
			}
		}
		for i, row := range thread.StackTable.Data {
			if row[0] != nil && int(row[0].(float64)) >= i {
				return fmt.Errorf("thread %d: stack %d is called by %v, which comes later", n, i, row[0])
			}
		}
	}
	return nil
}

// checkGecko holds a profile against the schema, and returns what is wrong.
func checkGecko(t *testing.T, profile []byte) []string {
	t.Helper()
	schema, err := os.ReadFile("testdata/gecko-profile.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(schema), gojsonschema.NewBytesLoader(profile))
	if err != nil {
		t.Fatal(err)
	}
	var wrong []string
	for _, e := range result.Errors() {
		wrong = append(wrong, e.String())
	}
	if len(wrong) > 0 {
		return wrong[:min(len(wrong), 10)]
	}
	var p geckoProfile
	if err := json.Unmarshal(profile, &p); err != nil {
		t.Fatal(err)
	}
	if err := p.pointers(); err != nil {
		wrong = append(wrong, err.Error())
	}
	return wrong
}

func writtenGecko(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteFirefox(t.Context(), &b, twoThreads(t), nil, "run"); err != nil {
		t.Fatal(err)
	}
	var file struct{ Profile json.RawMessage }
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	return file.Profile
}

// TestFirefoxSchema holds what is written against the published schema, and that
// the schema refuses what is wrong.
func TestFirefoxSchema(t *testing.T) {
	profile := writtenGecko(t)
	for _, e := range checkGecko(t, profile) {
		t.Error(e)
	}
	for from, to := range map[string]string{
		`"prefix":0`: `"prefix":1`, `"version":`: `"revision":`, `"relevantForJS":1`: `"relevantForJS":2`, `"stringTable":[`: `"stringTable":[7,`,
		`"eventDelay":"ms"`: `"eventDelay":"s"`, `"stackTable":{"schema":{"frame":1,"prefix":0},"data":[[null,0]`: `"stackTable":{"schema":{"frame":1,"prefix":0},"data":[[null,99]`,
	} {
		other := bytes.Replace(profile, []byte(from), []byte(to), 1)
		if bytes.Equal(other, profile) {
			t.Errorf("no %s to change", from)
		} else if len(checkGecko(t, other)) == 0 {
			t.Errorf("%s in place of %s passes", to, from)
		}
	}
}

// TestSchemaOfFirefox holds the schema against a profile that Firefox writes of
// itself, and of the processes it started.
func TestSchemaOfFirefox(t *testing.T) {
	firefox := test.Peer(t, "firefox-esr", "firefox-esr")
	folder := t.TempDir()
	page, out, user := filepath.Join(folder, "page.html"), filepath.Join(folder, "profile.json"), filepath.Join(folder, "user")
	if err := os.WriteFile(page, []byte("<h1>a page</h1>"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(user, 0o777); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, firefox, "--headless", "--no-remote", "--profile", user, "--screenshot", filepath.Join(folder, "page.png"), "file://"+page)
	cmd.Env = append(os.Environ(), "HOME="+folder, "MOZ_PROFILER_STARTUP=1", "MOZ_PROFILER_STARTUP_FEATURES=stackwalk", "MOZ_PROFILER_STARTUP_INTERVAL=5", "MOZ_PROFILER_SHUTDOWN="+out)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %.2000s", err, text)
	}
	profile, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range checkGecko(t, profile) {
		t.Error(e)
	}
	var p geckoProfile
	if err := json.Unmarshal(profile, &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Threads) == 0 || len(p.Threads[0].Samples.Data) < 20 || len(p.Processes) == 0 {
		t.Errorf("%d threads, %d other processes", len(p.Threads), len(p.Processes))
	}
}
