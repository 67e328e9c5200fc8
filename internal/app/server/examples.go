package server

import (
	"context"
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
	list := make([]frame.Example, len(demo.Examples))
	for i, e := range demo.Examples {
		list[i] = frame.Example{Path: examplePrefix + e.Name, Name: e.Name, About: e.About}
	}
	return list
}

// beginExample opens a built-in run as a file of a temporary folder, which goes
// when the program ends: the run is read from there.
func (s *Server) beginExample(path string) frame.Job {
	return s.start(&job{}, path, func(ctx context.Context, _ string, progress func(frame.Progress)) (*frame.Run, error) {
		folder, err := scratch.Folder("", "demo")
		if err != nil {
			return nil, err
		}
		file, err := demo.Unpack(ctx, strings.TrimPrefix(path, examplePrefix), folder)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(file); err == nil && info.IsDir() && !run.IsRun(file) { // dumps of one mesh
			return mesh.Open(ctx, filepath.Join(file, "*"))
		}
		return s.opt.Open(ctx, file, progress)
	}, nil)
}
