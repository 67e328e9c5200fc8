// Package mitos reads the sample files of Mitos and MemAxes, in every form they
// have had since 2014. Columns are found by their names; positions matter only
// for files that lost their header.
package mitos

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/delimited"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format is a Mitos folder, or one of its sample files alone.
var Format = foreign.Format{Name: "mitos", Kind: kind.Samples, Sniff: sniff, Samples: read, Columns: columns}

// sampleFiles are where a Mitos folder may have its samples, newest form first.
var sampleFiles = []string{"data/samples.csv", "data/samples.out", "samples.csv", "samples.out", "data/raw_samples.csv"}

func sniff(in *foreign.Input) bool {
	if in.Dir() {
		return slices.ContainsFunc(sampleFiles, in.Has)
	}
	l, ok := recognise(in.Head)
	return ok && l.theirs()
}

// columns shows the columns of a sample file.
func columns(in *foreign.Input) ([]foreign.Candidate, error) {
	head := in.Head
	if in.Dir() {
		i := slices.IndexFunc(sampleFiles, in.Has)
		if i < 0 {
			return nil, fmt.Errorf("%s: no data/samples.csv or data/samples.out in it", in.Path)
		}
		file, err := foreign.Look(filepath.Join(in.Path, filepath.FromSlash(sampleFiles[i])))
		if err != nil {
			return nil, err
		}
		head = file.Head
	}
	l, ok := recognise(head)
	if !ok {
		return nil, notSamples(in.Path, head)
	}
	out := make([]foreign.Candidate, len(l.found))
	for i, name := range l.found {
		out[i] = foreign.Candidate{Name: name, Values: []string{}}
		if l.names[i] != name || known[name] {
			out[i].ReadAs = l.names[i]
		}
	}
	for _, row := range delimited.FirstLines(head[l.header:], ',', confirmRows) {
		if len(row) != len(out) {
			continue // broken, or cut off by the end of the head
		}
		for i, cell := range row {
			out[i].Show(string(cell))
		}
	}
	return out, nil
}

// maxHardware bounds the description of the machine: of 1,000 CPUs it has some
// hundred kilobytes.
const maxHardware = 64 << 20

func read(ctx context.Context, in *foreign.Input, opt *foreign.Options) (*foreign.Imported, error) {
	file, root := in.Path, filepath.Dir(in.Path)
	if in.Dir() {
		i := slices.IndexFunc(sampleFiles, in.Has)
		if i < 0 {
			return nil, fmt.Errorf("%s: no data/samples.csv or data/samples.out in it", in.Path)
		}
		file, root = filepath.Join(in.Path, filepath.FromSlash(sampleFiles[i])), in.Path
	} else if filepath.Base(root) == "data" {
		root = filepath.Dir(root)
	}
	data, unmap, err := table.MapFile(file)
	if err != nil {
		return nil, fmt.Errorf("read samples: %w", err)
	}
	defer unmap()
	hardware, _ := plainfile.ReadFile(filepath.Join(root, "hardware.xml"), maxHardware)
	out, err := parse(ctx, file, data, processorOf(hardware), opt)
	if err != nil {
		return nil, err
	}
	if len(hardware) > 0 {
		out.Topology, out.TopologyName = hardware, "hardware.xml"
	}
	for _, dir := range []string{"src", "."} {
		out.SourceRoots = append(out.SourceRoots, filepath.Join(root, dir))
	}
	return out, nil
}

// parse reads a sample file from memory. name is used in messages.
func parse(ctx context.Context, name string, data []byte, cpu processor, opt *foreign.Options) (*foreign.Imported, error) {
	if i := bytes.IndexByte(data[:min(len(data), foreign.HeadSize)], 0); i >= 0 {
		return nil, fmt.Errorf("%s: byte %d is zero: this is not a text file", name, i)
	}
	layout, ok := recognise(data[:min(len(data), 4*foreign.HeadSize)])
	if !ok {
		return nil, notSamples(name, data)
	}
	if err := layout.rename(opt.Map); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := layout.require(name); err != nil {
		return nil, err
	}
	text, err := delimited.Read(ctx, data, layout.options(opt.Steps(int64(len(data)))))
	if err != nil {
		return nil, err
	}
	warnings, err := text.Judge(opt.Salvage)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return convert(layout, text, cpu, opt, warnings)
}
