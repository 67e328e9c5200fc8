// Package damagetest damages files of every format and opens them: what comes
// back is an error sentence or a result, never a panic, more than four times the
// input and 64 MB of memory, or ten seconds.
package damagetest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
)

// specimen is an input that is whole: a file, or a folder one file of which is
// damaged at a time.
type specimen struct {
	name   string
	format string            // as formats.Known calls it; empty for a run of ours
	files  map[string][]byte // by path below the folder
	open   string            // what is opened, below the folder
	hurt   []string          // the files that are damaged
	damage func(*source, []byte) []byte
}

// found are specimens that lie in the repository, by format.
var found = []struct {
	format, path string
	damage       func(*source, []byte) []byte
}{
	{"perf", "fixtures/perf/local_bid.data", damagePerf},
	{"perf", "fixtures/perf/local_callgraph.data", damagePerf},
	{"perf", "fixtures/perf/local_cpuclock_d.data", damagePerf},
	{"perf", "fixtures/perf/local_multi.data", damagePerf},
	{"perf", "fixtures/perf/local_pagefaults_d.data", damagePerf},
	{"perf", "fixtures/perf/local_phys.data", damagePerf},
	{"perf", "fixtures/perf/local_pipe.data", damagePerf},
	{"perf", "fixtures/perf/local_userregs.data", damagePerf},
	{"perf", "fixtures/perf/local_watchpoint.data", damagePerf},
	{"perf", "fixtures/perf/local_z.data", damagePerf},
	{"chombo", "internal/formats/chombo/testdata/small.hdf5", damageHDF5},
	{"chombo", "internal/formats/chombo/testdata/checkpoint.hdf5", damageHDF5},
	{"vtkhdf", "internal/formats/vtkhdf/testdata/amr-steps.hdf", damageHDF5},
	{"vtkhdf", "internal/formats/vtkhdf/testdata/multiblock.hdf", damageHDF5},
	{"vtkhdf", "internal/formats/vtkhdf/testdata/polyhedra-steps.hdf", damageHDF5},
	{"vtkhdf", "internal/formats/vtkhdf/testdata/steps.hdf", damageHDF5},
	{"silo", "internal/formats/silo/testdata/mixed.silo", damageHDF5},
	{"exodus", "internal/formats/exodus/testdata/small.exo", damageBytes},
	{"hwloc", "internal/formats/hwloc/testdata/version1.xml", damageText},
	{"hwloc", "internal/formats/hwloc/testdata/version2.xml", damageText},
	{"hwloc", "internal/formats/hwloc/testdata/version3.xml", damageText},
	{"paraver", "internal/formats/paraver/testdata/small.prv", damageText},
	{"chrome", "internal/formats/chrometrace/testdata/small.json", damageText},
	{"mitos-xml", "internal/formats/mitosxml/testdata/small.xml", damageText},
	{"sys-sage", "internal/formats/syssage/testdata/small.xml", damageText},
	{"caliper", mine + "caliper.cali", damageText},
	{"perf text", mine + "perf.txt", damageText},
	{"pprof", mine + "goroutine.pb", damageBytes},
	{"folded stacks", mine + "stacks.folded", damageText},
	{"callgrind", mine + "callgrind.out", damageText},
	{"callgrind", mine + "cachegrind.out", damageText},
	{"DHAT", mine + "dhat.json", damageText},
	{"gem5", mine + "gem5.ptrc", damageBytes},
	{"drmemtrace", mine + "drmemtrace.trace", damageBytes},
	{"lackey", mine + "lackey.txt", damageText},
	{"pinatrace", mine + "pinatrace.out", damageText},
	{"refscsv", mine + "refs.csv", damageText},
	{"dramsim", mine + "dramsim.trace", damageText},
	{"mitos", mine + "mitos.csv", damageText},
	{"csv", mine + "samples.csv", damageText},
	{"champsim", mine + "champsim.trace", damageBytes},
	{"champsim", mine + "champsim-sve.trace", damageBytes},
	{"vtk", mine + "legacy.vtk", damageText},
	{"vtk-xml", mine + "grid.vtu", damageText},
	{"vtk-xml", mine + "shared.vtu", damageText},
}

const mine = "internal/app/damagetest/testdata/"

// oneFile is a specimen that is a file.
func oneFile(name, format string, text []byte, damage func(*source, []byte) []byte) *specimen {
	return &specimen{name: name, format: format, files: map[string][]byte{name: text}, open: name, hurt: []string{name}, damage: damage}
}

// corpus returns every specimen.
func corpus() ([]*specimen, error) {
	var all []*specimen
	for _, f := range found {
		text, err := os.ReadFile(filepath.Join(test.Root(), filepath.FromSlash(f.path)))
		if err != nil {
			return nil, err
		}
		// Recordings name libraries that this machine may have, by path and build
		// ID, with debug information that takes seconds to read.
		for was, by := range map[string]string{"/usr/lib/": "/gone/ib/", "\x93\xac\x61\xec": "gone", "\x7e\xbc\x65\xe5": "gone"} {
			text = bytes.ReplaceAll(text, []byte(was), []byte(by))
		}
		name := filepath.Base(f.path)
		all = append(all, oneFile(name, f.format, text, f.damage))
	}
	// New ones come last: an attempt is known by the number of its specimen.
	for _, more := range []func() ([]*specimen, error){tables, archives, runs, others} {
		s, err := more()
		if err != nil {
			return nil, err
		}
		all = append(all, s...)
	}
	return all, nil
}

// mixed is a table with a column of every kind, values that are missing, and
// text of several lengths.
func mixed(rows int) (*table.Table, error) {
	ints, floats, words, codes, flags := make([]int64, rows), make([]float64, rows), make([]uint64, rows), make([]uint32, rows), make([]uint8, rows)
	valid := table.NewBits(rows)
	for i := range rows {
		ints[i], floats[i], words[i], codes[i], flags[i] = int64(i*i), float64(i)/3, 0xffffffff81000000+uint64(i)*64, uint32(i%3), uint8(i%2)
		if i%5 != 0 {
			valid.Set(i)
		}
	}
	return table.New("samples", []*table.Column{
		table.Ints("cpu", "", table.Measured, ints, nil),
		table.Floats("latency", "cycles", table.Measured, floats, valid),
		table.Addresses("addr", table.Measured, words, nil),
		table.Categories("level", table.Measured, codes, []string{"L1", "L2", "Local RAM"}, valid),
		table.Flags("hit", table.Measured, flags, nil),
	})
}

// tables are files that our own writers make.
func tables() ([]*specimen, error) {
	t, err := mixed(200)
	if err != nil {
		return nil, err
	}
	var arrow, parquet bytes.Buffer
	if err := t.WriteArrow(&arrow); err != nil {
		return nil, err
	}
	if err := t.WriteParquet(&parquet, nil); err != nil {
		return nil, err
	}
	return []*specimen{
		oneFile("table.arrow", "arrow", arrow.Bytes(), damageArrow),
		oneFile("table.parquet", "parquet", parquet.Bytes(), damageParquet),
	}, nil
}

// archives are message traces.
func archives() ([]*specimen, error) {
	var all []*specimen
	for _, name := range []string{"otf2/binomial16", "otf2/commtag8"} {
		folder, err := test.FindFixture(name)
		if err != nil {
			return nil, err
		}
		s, err := folderOf(filepath.Base(name), folder)
		if err != nil {
			return nil, err
		}
		s.format, s.damage = "otf2", damageOTF2
		for file := range s.files {
			if file != "README" {
				s.hurt = append(s.hurt, file)
			}
		}
		all = append(all, s)
	}
	s, err := folderOf("ctf", filepath.Join(test.Root(), "internal", "formats", "ctf", "testdata", "small"))
	if err != nil {
		return nil, err
	}
	s.format = "ctf"
	s.damage = func(src *source, b []byte) []byte {
		if bytes.HasPrefix(b, []byte("/* CTF")) {
			return damageText(src, b)
		}
		return damageBytes(src, b)
	}
	for file := range s.files {
		s.hurt = append(s.hurt, file)
	}
	return append(all, s), nil
}

// runs are runs of our own.
func runs() ([]*specimen, error) {
	s, err := folderOf("version1.isobath", filepath.Join(test.Root(), "internal", "data", "run", "testdata", "version1.isobath"))
	if err != nil {
		return nil, err
	}
	s.damage = func(src *source, b []byte) []byte {
		if bytes.HasPrefix(b, []byte("ARROW1")) {
			return damageArrow(src, b)
		}
		return damageText(src, b)
	}
	for file := range s.files {
		if !strings.HasPrefix(file, "sources/") {
			s.hurt = append(s.hurt, file)
		}
	}
	return []*specimen{s}, nil
}

// folderOf reads a folder, which is opened as a whole.
func folderOf(name, folder string) (*specimen, error) {
	s := &specimen{name: name, files: map[string][]byte{}, open: "."}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		below, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		s.files[filepath.ToSlash(below)], err = os.ReadFile(path)
		return err
	})
	if err == nil && len(s.files) == 0 {
		err = fmt.Errorf("%s is empty", folder)
	}
	return s, err
}
