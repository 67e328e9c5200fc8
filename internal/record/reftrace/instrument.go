package reftrace

import (
	"context"
	"debug/elf"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/ccache"
	"github.com/isobath/isobath/internal/record/heap"
)

//go:embed c/hooks.c
var hooksSource []byte

// instrument records a program that was built with 'isobath cc'.
func (j *job) instrument(ctx context.Context) error {
	if !j.instrumented() {
		return errors.New("the program has no hooks: build it with 'isobath cc gcc …', or use --backend step")
	}
	if j.elsewhere() || j.bounds.Pieces != nil {
		return errors.New("compiler hooks know the functions of the program itself, no libraries, ranges or lines; use --backend step or qemu")
	}
	out, err := scratch.File("", "refs")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd := exec.CommandContext(ctx, j.program.Path, j.Command[1:]...)
	cmd.Args[0] = j.Command[0]
	settings, err := j.logAllocations(ctx)
	if err != nil {
		return err
	}
	env := os.Environ()
	if settings != nil {
		// The log looks at the file before the program's own part makes it.
		if err := out.Truncate(pluginHead); err != nil {
			return err
		}
		env = environment(heap.Clocked(settings, out.Name()))
	}
	cmd.Env = append(env, fmt.Sprintf("ISOBATH_REFS=out=%s,limit=%d,%s", out.Name(), j.Limit,
		j.regionSettings(j.Flow && j.program.Machine == elf.EM_X86_64)))
	if err := j.runChild(cmd); err != nil {
		return err
	}
	if err := j.readRecords(out); err != nil {
		return err
	}
	j.note("compiler hooks do not see variables that never leave a function, library code, or memory that library functions copy; --symbol pc finds loops all the same")
	return nil
}

// plain reads records that need no merging.
func (j *job) plain(r io.Reader) error {
	return eachRecord(r, func(b []byte) bool {
		if j.memory.library != "" {
			j.memory.raw++
		}
		if b[22] >= recordBlock {
			j.sites.add(b)
			return true
		}
		return j.emit(refs.Ref{Addr: binary.LittleEndian.Uint64(b), PC: binary.LittleEndian.Uint64(b[8:]),
			Thread: binary.LittleEndian.Uint32(b[16:]), Size: uint32(binary.LittleEndian.Uint16(b[20:])), Op: refs.Op(min(b[22], uint8(refs.Modify)))})
	})
}

// hookFlags make a compiler call the hooks. Builtins would hide accesses of
// copied memory no less, so they stay.
var hookFlags = []string{"-fsanitize=thread", "-fsanitize-coverage=trace-pc", "-finstrument-functions", "-g"}

// sourceSuffixes are the files that a compiler driver compiles.
var sourceSuffixes = []string{".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".f", ".for", ".f90", ".f95", ".f03", ".f08", ".F", ".F90", ".F95", ".F03", ".F08"}

// Compile runs a compiler with the hooks switched on: the words are those of a
// command line, compiler first. A program is linked with our runtime in place of
// the sanitizer's.
func Compile(ctx context.Context, words []string, stdout, stderr io.Writer) error {
	run := func(args ...string) error {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
		return cmd.Run()
	}
	if !links(words[1:]) {
		return run(slices.Concat(words[:1], hookFlags, words[1:])...)
	}
	runtime, err := ccache.Build(ctx, ccache.Source{Name: "isobath-hooks.o", Text: slices.Concat(bufferSource, hooksSource), Compiler: "cc", Package: "gcc",
		Flags: []string{"-c", "-O2", "-fPIC", "-pthread"}})
	if err != nil {
		return err
	}
	// A driver that is told of the sanitizer links its library: sources are
	// compiled first, apart.
	dir, err := scratch.Folder("", "cc")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	link, compile := split(words[1:])
	for i, word := range link {
		if !isSource(word) {
			continue
		}
		object := filepath.Join(dir, fmt.Sprintf("%d-%s.o", i, strings.TrimSuffix(filepath.Base(word), filepath.Ext(word))))
		if err := run(slices.Concat(words[:1], hookFlags, compile, []string{"-c", word, "-o", object})...); err != nil {
			return err
		}
		link[i] = object
	}
	if !slices.Contains(link, "-shared") {
		link = append(link, runtime, "-rdynamic", "-pthread", "-ldl")
	}
	return run(append(words[:1:1], link...)...)
}

// links reports whether a command line makes a program or library.
func links(args []string) bool {
	return !slices.ContainsFunc(args, func(a string) bool {
		return slices.Contains([]string{"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-v", "-dumpversion", "-dumpmachine", "-###"}, a) ||
			strings.HasPrefix(a, "-print-")
	})
}

func isSource(word string) bool {
	return !strings.HasPrefix(word, "-") && slices.Contains(sourceSuffixes, filepath.Ext(word))
}

// split returns the words for linking, which are all but the language of
// sources, and the flags for compiling, which are all but files and libraries.
func split(args []string) (link, compile []string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-x": // the language of what follows
			compile = append(compile, args[i:min(i+2, len(args))]...)
			i++
		case a == "-o":
			link = append(link, args[i:min(i+2, len(args))]...)
			i++
		case slices.Contains([]string{"-I", "-D", "-U", "-include", "-isystem", "-iquote", "-MF", "-MT", "-MQ", "-J"}, a):
			compile = append(compile, args[i:min(i+2, len(args))]...)
			i++
		case strings.HasPrefix(a, "-l"), strings.HasPrefix(a, "-L"), strings.HasPrefix(a, "-Wl,"), !strings.HasPrefix(a, "-"):
			link = append(link, a)
		default:
			link, compile = append(link, a), append(compile, a)
		}
	}
	return link, compile
}
