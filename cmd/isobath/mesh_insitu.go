package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/domain/mesh"
)

// stepsVariable names the folder to programs that hand their mesh over.
const stepsVariable = "ISOBATH_STEPS"

// stepLook is how often the folder is looked at while the program runs.
const stepLook = 100 * time.Millisecond

// handedOver runs a program that hands its mesh over in a folder, and says so of every
// step as it comes.
func (f *meshFlags) handedOver(ctx context.Context, stdout, stderr io.Writer, program []string) error {
	if err := os.MkdirAll(f.insitu, 0o755); err != nil {
		return err
	}
	if old := stepFiles(f.insitu); len(old) > 0 {
		return usagef("--insitu %s: the folder holds %s of an earlier run; name another, or empty it", f.insitu, term.Counted(len(old), "step"))
	}
	folder, err := filepath.Abs(f.insitu)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	cmd.Env = append(os.Environ(), stepsVariable+"="+folder)
	// The program and the lines about its steps may go to one place.
	turn := &sync.Mutex{}
	stdout, stderr = inTurn{turn, stdout}, inTurn{turn, stderr}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", program[0], err)
	}
	ended, waiting := make(chan struct{}), parallel.NewGroup(ctx)
	waiting.Go(func(context.Context) error {
		defer close(ended)
		return cmd.Wait()
	})
	told := map[string]bool{}
	look := time.NewTicker(stepLook)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			tellSteps(ctx, stderr, folder, told)
		case <-ended:
			tellSteps(ctx, stderr, folder, told)
			err := waiting.Wait()
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w; %s handed over", program[0], err, term.Counted(len(told), "step"))
			case len(told) == 0:
				return errors.New("the program handed no step over; it must call isobath_step of clients/, and end each step")
			}
			return nil
		}
	}
}

// inTurn writes one thing after another.
type inTurn struct {
	turn *sync.Mutex
	to   io.Writer
}

func (w inTurn) Write(b []byte) (int, error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	return w.to.Write(b)
}

func stepFiles(folder string) []string {
	files, _ := filepath.Glob(filepath.Join(folder, "step_*.vtk"))
	return files
}

// tellSteps says what each new step brings.
func tellSteps(ctx context.Context, w io.Writer, folder string, told map[string]bool) {
	for _, file := range stepFiles(folder) {
		if told[file] {
			continue
		}
		told[file] = true
		i, err := mesh.Describe(ctx, file)
		if err != nil {
			fmt.Fprintf(w, "step %s: %v\n", filepath.Base(file), err)
			continue
		}
		fmt.Fprintf(w, "step %d: %s, %s\n", i.Iterations[0], term.Counted(i.Cells, "cell"), term.Counted(len(i.Fields), "variable"))
	}
}
