package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// TestMembers: a folder of recordings stands for them, one that is itself a run or
// something else does not.
func TestMembers(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	recorded := func(name string) {
		r := &run.Run{Manifest: run.Manifest{Kind: kind.Samples, Format: "record"}}
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o700), r.Write(t.Context(), at(name), false)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"nodes/rank10.isobath", "nodes/rank2.isobath", "nodes/all.isobath", "alone.isobath"} {
		recorded(name)
	}
	for name, text := range map[string]string{
		"nodes/rank3.isobath.part/events": "", "nodes/rank2.isobath.part/events": "", "nodes/rank4.isobath/samples.arrow": "torn",
		"nodes/notes.txt": "", "empty/notes.txt": "", "alone.isobath/deeper.isobath/manifest.json": "{}",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o700), os.WriteFile(at(name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"nodes/app.otf2", "scorep/traces.otf2"} {
		p, err := mpiprog.New(at(name), 2)
		if err == nil {
			err = p.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := Members([]string{at("alone.isobath"), at("nodes") + "/", at("empty"), at("scorep"), at("lost.csv"), "-"}, at("nodes/all.isobath"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{at("alone.isobath"), at("nodes/app.otf2"), at("nodes/rank2.isobath"), at("nodes/rank3.isobath.part"), at("nodes/rank4.isobath"), at("nodes/rank10.isobath"), at("empty"), at("scorep"), at("lost.csv"), "-"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
