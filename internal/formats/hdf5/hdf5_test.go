package hdf5

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// h5py returns the interpreter that has the h5py module.
func h5py(t testing.TB) string {
	t.Helper()
	return test.PythonPeer(t, "h5py", "python3-h5py")
}

// item is one object as h5py describes it.
type item struct {
	Shape  []int                      `json:"shape"`
	DType  string                     `json:"dtype"`
	Values json.RawMessage            `json:"values"`
	Attrs  map[string]json.RawMessage `json:"attrs"`
}

// TestFormsOfHDF5 compares every dataset and attribute of files that the HDF5
// library writes in its oldest, middle and newest form with what it reads back.
func TestFormsOfHDF5(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command(h5py(t), "testdata/make.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"earliest", "v108", "latest", "userblock", "ordered"} {
		t.Run(name, func(t *testing.T) {
			var want map[string]item
			text, err := os.ReadFile(filepath.Join(dir, name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			f, err := Open(filepath.Join(dir, name+".h5"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if len(want) < 400 {
				t.Fatalf("h5py lists %d objects", len(want))
			}
			for path, w := range want {
				checkItem(t, f, path, w)
			}
		})
	}
}

func checkItem(t *testing.T, f *File, path string, w item) {
	t.Helper()
	o, err := f.Lookup(path)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	for name, text := range w.Attrs {
		v, err := o.Attr(name)
		if err == nil {
			err = sameValues(v, text)
		}
		if err != nil {
			t.Errorf("%s: attribute %s: %v", path, name, err)
		}
	}
	if names, err := attrNames(o); err != nil || len(names) != len(w.Attrs) {
		t.Errorf("%s: %d attributes (%v), want %d", path, len(names), err, len(w.Attrs))
	}
	if w.DType == "" {
		return
	}
	v, err := o.Read()
	if err != nil {
		t.Error(err)
		return
	}
	if !slices.Equal(v.Dims, w.Shape) {
		t.Errorf("%s: shape %v, want %v", path, v.Dims, w.Shape)
	}
	if err := sameValues(v, w.Values); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

func sameValues(v *Value, text json.RawMessage) error {
	if bytes.HasPrefix(text, []byte("{")) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil {
			return err
		}
		for name, part := range fields {
			m, err := v.Field(name)
			if err == nil {
				err = sameValues(m, part)
			}
			if err != nil {
				return fmt.Errorf("member %s: %w", name, err)
			}
		}
		return nil
	}
	if bytes.Contains(text, []byte(`"`)) {
		var want []string
		if err := json.Unmarshal(text, &want); err != nil {
			return err
		}
		got, err := v.Strings()
		if err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("%q (%v), want %q", got, err, want)
		}
		return nil
	}
	var want []float64
	if err := json.Unmarshal(text, &want); err != nil {
		return err
	}
	got, err := v.Floats()
	if err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("%v (%v), want %v", clipped(got), err, clipped(want))
	}
	return nil
}

func clipped(v []float64) []float64 { return v[:min(8, len(v))] }

// TestSharedFiles walks the real files and reads every dataset in them.
func TestSharedFiles(t *testing.T) {
	for _, name := range []string{"mesh/chombo/plt000100.2d.hdf5", "mesh/lulesh/lulesh_plot_c300", "mesh/vtk/hdf/can-vtu.hdf", "mesh/vtk/hdf/can_0.hdf"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, err := Open(test.Shared(t, name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			root, err := f.Root()
			if err != nil {
				t.Fatal(err)
			}
			datasets := 0
			walk(t, root, 0, &datasets)
			if datasets == 0 {
				t.Error("no datasets")
			}
		})
	}
}

func walk(t *testing.T, o *Object, depth int, datasets *int) {
	t.Helper()
	if isDataset(o) {
		*datasets++
		if _, err := o.Read(); err != nil {
			t.Error(err)
		}
	}
	if !o.IsGroup() || depth > 6 {
		return
	}
	links, err := o.Links()
	if err != nil {
		t.Error(err)
		return
	}
	for _, l := range links {
		if l.Name == ".." { // Silo links a group to its parent
			continue
		}
		child, err := o.Child(l)
		if err != nil {
			t.Error(err)
			continue
		}
		walk(t, child, depth+1, datasets)
	}
}

func TestFletcher32(t *testing.T) {
	// Sums of "abcde" by hand: 6162 + 6364 + 6500, and running.
	data := []byte("abcde")
	s1, s2 := uint32(0), uint32(0)
	for _, w := range []uint32{0x6162, 0x6364, 0x6500} {
		s1 = (s1 + w) % 65535
		s2 = (s2 + s1) % 65535
	}
	sum := s2<<16 | s1
	b := append(slices.Clone(data), byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
	got, err := fletcher32(b)
	if err != nil || string(got) != "abcde" {
		t.Errorf("fletcher32 = %q, %v", got, err)
	}
	b[0] ^= 1
	if _, err := fletcher32(b); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("damaged chunk: %v", err)
	}
}

func TestNotHDF5(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("short"), bytes.Repeat([]byte("x"), 5000), Magic, append(slices.Clone(Magic), 9, 9, 9)} {
		if f, err := New(bytes.NewReader(b), int64(len(b))); err == nil {
			if _, err := f.Root(); err == nil {
				t.Errorf("%q is accepted", b[:min(len(b), 16)])
			}
		}
	}
}

// FuzzFile reads everything in a damaged file: no panic, no runaway memory.
func FuzzFile(f *testing.F) {
	for _, name := range []string{"earliest", "latest"} {
		if b, err := os.ReadFile("testdata/" + name + ".small.h5"); err == nil {
			f.Add(b)
		}
	}
	f.Add(slices.Clone(Magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := New(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		root, err := h.Root()
		if err != nil {
			return
		}
		visitAll(root, 0)
	})
}

func visitAll(o *Object, depth int) {
	names, _ := attrNames(o)
	for _, n := range names {
		if v, err := o.Attr(n); err == nil {
			touch(v)
		}
	}
	if shape, err := o.Shape(); err == nil && isDataset(o) {
		n := 1.0
		for _, d := range shape {
			n *= float64(d)
		}
		if n < 1<<20 {
			if v, err := o.Read(); err == nil {
				touch(v)
			}
		}
	}
	if depth > 4 {
		return
	}
	links, _ := o.Links()
	for _, l := range links[:min(len(links), 20)] {
		if c, err := o.Child(l); err == nil {
			visitAll(c, depth+1)
		}
	}
}

func touch(v *Value) {
	if f, err := v.Floats(); err == nil && len(f) > 0 {
		_ = math.IsNaN(f[0])
	}
	_, _ = v.Strings()
	for _, m := range v.Type.Members {
		_, _ = v.Field(m.Name)
	}
}

// TestSmallFiles reads the two files in testdata, made by testdata/make.py.
func TestSmallFiles(t *testing.T) {
	for _, name := range []string{"earliest", "latest"} {
		f, err := Open("testdata/" + name + ".small.h5")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for path, n := range map[string]int{"g/plain": 6, "g/packed": 40, "g/growing": 30, "g/twice": 12} {
			o, err := f.Lookup(path)
			if err != nil {
				t.Fatal(err)
			}
			v, err := o.Read()
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.Floats()
			if err != nil || len(got) != n {
				t.Fatalf("%s: %d values (%v), want %d", path, len(got), err, n)
			}
			for i, x := range got {
				if x != float64(i) {
					t.Errorf("%s %s: value %d is %g", name, path, i, x)
				}
			}
		}
		if _, err := f.Lookup("g/none"); err == nil || !strings.Contains(err.Error(), "/g/none is not in the file") {
			t.Errorf("missing object: %v", err)
		}
	}
}

// isDataset reports whether the object holds values.
func isDataset(o *Object) bool { return o.has(msgLayout) && o.has(msgSpace) }

// attrNames lists the attributes.
func attrNames(o *Object) ([]string, error) {
	attrs, err := o.attrs("")
	names := make([]string, len(attrs))
	for i, a := range attrs {
		names[i] = a.name
	}
	return names, err
}
