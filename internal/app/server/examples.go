package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/mesh"
	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/data/run"
)

// examplePrefix is what the path of a built-in run begins with, as on the command
// line.
const examplePrefix = "demo:"

// examples lists the runs that are built in.
func examples() []frame.Example {
	list := make([]frame.Example, len(demo.Examples), len(demo.Examples)+1)
	for i, e := range demo.Examples {
		list[i] = frame.Example{Path: examplePrefix + e.Name, Name: e.Name, About: e.About}
	}
	return append(list, frame.Example{Path: exampleCompared, Name: "compare", About: "the stencil program beside its repaired form"})
}

// exampleCompared is two runs, shown as one.
const exampleCompared = examplePrefix + "compare"

// beginExample opens a built-in run, or two to compare.
func (s *Server) beginExample(path string) frame.Job {
	return s.start(&job{}, path, func(ctx context.Context, _ string, progress func(frame.Progress)) (*frame.Run, error) {
		if path == exampleCompared {
			return s.openCompared(ctx, progress)
		}
		r, err := s.openExample(ctx, strings.TrimPrefix(path, examplePrefix), progress)
		if err == nil {
			s.showAlone(r.ID)
		}
		return r, err
	}, nil)
}

func (s *Server) openCompared(ctx context.Context, progress func(frame.Progress)) (*frame.Run, error) {
	before, err := s.openExample(ctx, "stencil", progress)
	if err != nil {
		return nil, err
	}
	after, err := s.openExample(ctx, "fixed", progress)
	if err != nil {
		return nil, errors.Join(err, before.Close())
	}
	s.Add(before)
	s.CompareFirst(before.ID, after.ID)
	return after, nil
}

// openExample opens a built-in run as a file of a temporary folder, which goes
// when the program ends: the run is read from there.
func (s *Server) openExample(ctx context.Context, name string, progress func(frame.Progress)) (*frame.Run, error) {
	folder, err := scratch.Folder("", "demo")
	if err != nil {
		return nil, err
	}
	file, err := demo.Unpack(ctx, name, folder)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() && !run.IsRun(file) { // dumps of one mesh
		return mesh.Open(ctx, filepath.Join(file, "*"))
	}
	r, err := s.opt.Open(ctx, file, progress)
	if err == nil && demo.OnMesh(name) {
		err = mesh.JoinDemo(ctx, r)
	}
	return r, err
}
