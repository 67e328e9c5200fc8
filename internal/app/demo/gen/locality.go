package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/locality/layout"
)

// recordLocality compiles the example of the locality page, records its steps
// and writes them with the objects that the program declares.
func recordLocality(out, program string) error {
	tmp, err := os.MkdirTemp("", "isobath-demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	exe, recording := filepath.Join(tmp, "pic"), filepath.Join(tmp, "pic.isobath")
	// Inlined functions would be one; scalar code reads one field at a time.
	if err := command("cc", "-g", "-O1", "-fno-inline", "-o", exe, filepath.Join("examples", "locality", demo.Particles.Source)); err != nil {
		return err
	}
	if err := command(program, "record", "--refs", "--backend", "qemu", "--function", "steps", "-o", recording, "--", exe); err != nil {
		return err
	}
	set, err := refset.Open(context.Background(), recording, refset.Options{Binary: exe})
	if err != nil {
		return err
	}
	defer set.Close()
	var all []refs.Ref
	err = set.Each(context.Background(), func(batch []refs.Ref) error {
		for i := range batch {
			set.Table.Number(&batch[i])
		}
		all = append(all, batch...)
		return nil
	})
	if err != nil {
		return err
	}
	var objects []layout.Object
	for _, o := range set.Table.Objects[1:] {
		if o.Known == layout.ByType {
			objects = append(objects, *o)
		}
	}
	way, err := wayOf(recording)
	if err != nil {
		return err
	}
	data, err := demo.EncodeRefs(all, set.About().Places, objects, way)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d references in %d bytes\n", out, len(all), len(data))
	return os.WriteFile(out, data, 0o644)
}

// wayOf is the way through the code that a run of one thread holds, by the names that
// places have in the repository.
func wayOf(path string) (*flow.Trace, error) {
	r, err := run.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	way, err := flow.Read(r)
	if err != nil {
		return nil, err
	}
	if way == nil || len(way.Threads) != 1 {
		return nil, errors.New("the recording does not hold the way of one thread")
	}
	way.Threads[0].ID = 0
	for i := range way.Code {
		way.Code[i].Place.File = filepath.Base(way.Code[i].Place.File)
	}
	for i := range way.Marks {
		way.Marks[i].File = filepath.Base(way.Marks[i].File)
	}
	return way, nil
}
