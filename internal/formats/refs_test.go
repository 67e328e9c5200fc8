package formats

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
)

const lackeyText = "==1== Lackey\nI  00109eac,1\n S 1fff0006f8,8\nI  00109ead,3\n L 1fff0006f0,8\n"

func TestStandardInput(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte(lackeyText))
	w.Close()
	for name, text := range map[string]string{"plain": lackeyText, "packed": packed.String()} {
		r, format, err := OpenRefs(Stdin, strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all, err := refs.All(r)
		if err != nil || format != "lackey" || len(all) != 2 || all[1].PC != 0x109ead {
			t.Errorf("%s: %s %v %v", name, format, all, err)
		}
		r.Close()
	}
	for _, text := range []string{"", "hello\n", "PK\x03\x04 a zip"} {
		if _, _, err := OpenRefs(Stdin, strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "standard input") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRun(t *testing.T) {
	tab, err := reftable.New([]refs.Ref{{Addr: 1, PC: 2}}, nil, nil, refs.HasPC)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.isobath")
	r := run.Run{Manifest: run.Manifest{Version: run.Version, Kind: kind.Refs, Format: "step", Warnings: []string{"cut"}}, Contents: []*table.Table{tab}}
	if err := r.Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	src, format, err := OpenRefs(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	all, err := refs.All(src)
	if err != nil || len(all) != 1 || format != "step" || len(src.About().Notes) != 1 {
		t.Errorf("%v %v %s %v", all, err, format, src.About().Notes)
	}
}
