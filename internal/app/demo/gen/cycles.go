package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/refscsv"
)

// recordCycles compiles the examples and records each between its marks.
func recordCycles(dir, program string) error {
	tmp, err := os.MkdirTemp("", "isobath-demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	for _, c := range demo.Cycles {
		if err := recordCycle(c, dir, tmp, program); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

func recordCycle(c demo.Cycle, dir, tmp, program string) error {
	folder := filepath.Join("examples", "loops")
	compiler := "cc"
	if strings.HasSuffix(c.Source, ".cpp") {
		compiler = "c++"
	}
	exe, run := filepath.Join(tmp, "example"), filepath.Join(tmp, c.File()+".isobath")
	flags := slices.Concat([]string{"-g", "-O0", "-o", exe}, []string{filepath.Join(folder, c.Source), "-x", "c", filepath.Join(folder, "region.c")})
	if err := command(compiler, flags...); err != nil {
		return err
	}
	record := slices.Concat([]string{"record", "--refs", "--backend", "step", "--allocations", "--begin", "region_begin", "--end", "region_end", "-o", run, "--", exe}, c.Args)
	if err := command(program, record...); err != nil {
		return err
	}
	src, _, err := formats.OpenRefs(run, nil)
	if err != nil {
		return err
	}
	defer src.Close()
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := refscsv.Write(z, short{src}); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes\n", c.File(), packed.Len())
	return os.WriteFile(filepath.Join(dir, c.File()), packed.Bytes(), 0o644)
}

func command(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	return cmd.Run()
}

// short names source files without their folders, which are those of the
// machine it was recorded on. Places grow while the trace is read.
type short struct{ refs.Source }

func (s short) Read(batch []refs.Ref) (int, error) {
	n, err := s.Source.Read(batch)
	for i, p := range s.About().Places {
		if p.File != "" {
			s.About().Places[i].File = path.Base(p.File)
		}
	}
	return n, err
}
