package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/app/sides"
	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// shownDemos are the examples that the page opens without files, by the page they
// are shown on. The others are unpacked first.
var shownDemos = map[string]struct {
	open opener
	page string
}{
	"stencil":  {(*server.Loader).Demo, ""},
	"mesh":     {(*server.Loader).Demo, "mesh"},
	"cycles":   {(*server.Loader).DemoCycles, "cycles"},
	"locality": {(*server.Loader).DemoLocality, "locality"},
	"compare":  {(*server.Loader).DemoCompare, ""},
}

func newDemo() *cobra.Command {
	var f serveFlags
	var folder string
	cmd := &cobra.Command{
		Use:   "demo [stencil|lookup|messages|cycles|locality|mesh|compare]",
		Short: "Show the built-in example runs in the browser",
		Long: `Demo shows a run of samples of a stencil program, made by simulation, with its
mesh. 'demo lookup' shows a program with three phases, each slow for a reason of
its own. 'demo messages' shows eight processes of which one is late. 'demo cycles'
shows reference traces of small programs, recorded by 'isobath record --refs' from
the sources in examples/loops. 'demo locality' shows a program worth improving,
examples/locality/pic.c: what other caches, machines and layouts would make of its
references. 'demo compare' shows the stencil program beside its repaired form, in
which memory lies near the threads that use it and neighbouring planes run on
neighbouring cores, and says what 'isobath diff' finds: 37.8 % fewer cycles, where
the paper that tells the story saw 60 % in its program.

Every verb takes an example in place of a file: 'isobath report demo' is about the
stencil program, 'isobath steps demo:messages' about the messages; there are also
demo:fixed, demo:lookup, demo:cycles, demo:locality and demo:mesh. --unpack writes
one of them, or both that 'demo compare' shows, to keep.`,
		Example: `  isobath demo
  isobath demo messages
  isobath insights demo
  isobath diff demo demo:fixed
  isobath demo lookup --unpack .`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"stencil", "lookup", "messages", "cycles", "locality", "mesh", "compare", "fixed"},
		RunE: func(cmd *cobra.Command, args []string) error {
			name := demo.Examples[0].Name
			if len(args) == 1 {
				name = args[0]
			}
			if folder != "" {
				return unpackDemo(cmd.Context(), cmd.OutOrStdout(), name, folder)
			}
			return f.demo(cmd, name)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.noBrowser, "no-browser", false, "only print the address")
	cmd.Flags().StringVar(&folder, "unpack", "", "write the example below this `folder` instead, and print where")
	return cmd
}

// unpackDemo writes an example, or both sides of the one that compares, and
// prints where they are.
func unpackDemo(ctx context.Context, w io.Writer, name, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	names := []string{name}
	if name == "compare" {
		names = []string{"stencil", "fixed"}
	}
	for _, name := range names {
		path, err := demo.Unpack(ctx, name, folder)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, path); err != nil {
			return err
		}
	}
	return nil
}

// demo shows an example.
func (f *serveFlags) demo(cmd *cobra.Command, name string) error {
	if name == "compare" {
		c, err := sides.Demo(cmd.Context(), "file", "line")
		if err != nil {
			return err
		}
		f.compare = true
		say("A is the stencil program, B its repaired form: %s", c.Sentence())
	}
	if shown, ok := shownDemos[name]; ok {
		f.page = shown.page
		return f.serve(cmd, nil, shown.open)
	}
	files, e, err := withExamples(cmd.Context(), cmd, []string{exampleWord + ":" + name})
	if err != nil {
		return err
	}
	return errors.Join(f.serve(cmd, files, nil), e.remove())
}

// exampleWord means the first example in place of a file, and with a colon and a
// name another.
const exampleWord = "demo"

// takesNoExamples are verbs whose words are not files, or that hand them on to
// verbs which take them.
var takesNoExamples = []string{"demo", "record", "ab", "cc", "guide", "help", "mcp", "version"}

// onOwnMesh names the mesh of the stencil program where its samples are asked for
// without one, and how many of its cells one of that mesh stands for.
func onOwnMesh(cmd *cobra.Command, args []string) error {
	per := cmd.Flag("per-cell")
	if per == nil || len(args) == 0 || cmd.Flag("dims").Changed || cmd.Flag("insitu").Changed {
		return nil
	}
	meshes, own := meshesOf(cmd), []string{exampleWord + ":mesh"}
	if given := meshes.GetSlice(); len(given) > 0 && !slices.Equal(given, own) {
		return nil
	}
	if name, ok := exampleNamed(args[0]); !ok || !demo.OnMesh(name) {
		return nil
	}
	if err := meshes.Replace(own); err != nil || per.Changed {
		return err
	}
	cells := demo.DumpCells()
	return per.Value.Set(fmt.Sprintf("%dx%dx%d", cells[0], cells[1], cells[2]))
}

// onDemoMesh reports whether a file is an example on the mesh of the stencil program,
// and no other mesh was named for it.
func onDemoMesh(ctx context.Context, path string, meshes []string) bool {
	word := nameOf(ctx, path)
	name, ok := exampleNamed(word)
	return word != path && ok && demo.OnMesh(name) &&
		!slices.ContainsFunc(meshes, func(m string) bool { return nameOf(ctx, m) != exampleWord+":mesh" })
}

// meshesOf is the flag that names meshes, which may be examples too; nil if a
// verb has none.
func meshesOf(cmd *cobra.Command) pflag.SliceValue {
	f := cmd.Flag("mesh")
	if f == nil {
		return nil
	}
	v, _ := f.Value.(pflag.SliceValue)
	return v
}

// examples are the built-in examples that a command names in place of files. Each
// lies in a folder that is gone when the command ends, so that what is printed has
// its word and not its path.
type examples struct {
	folder string
	words  map[string]string // by path
}

type examplesKey struct{}

// nameOf is what the user called a file.
func nameOf(ctx context.Context, path string) string {
	if e, _ := ctx.Value(examplesKey{}).(*examples); e != nil && e.words[path] != "" {
		return e.words[path]
	}
	if path == formats.Stdin {
		return foreign.StdinName
	}
	return path
}

// withExamples puts the examples that are named in place of files into a folder
// that remove deletes. A file of that name comes first.
func withExamples(ctx context.Context, cmd *cobra.Command, args []string) (out []string, e *examples, err error) {
	e = &examples{words: map[string]string{}}
	if cmd.Name() != exampleWord && slices.Contains(takesNoExamples, cmd.Name()) {
		return args, e, nil
	}
	out = slices.Clone(args)
	for i, word := range args {
		name, ok := exampleNamed(word)
		if !ok {
			continue
		}
		if e.folder == "" {
			if e.folder, err = scratch.Folder("", "demo"); err != nil {
				return nil, nil, err
			}
		}
		if at := slices.Index(args[:i], word); at >= 0 {
			out[i] = out[at]
			continue
		}
		if out[i], err = demo.Unpack(ctx, name, e.folder); err != nil {
			return nil, nil, errors.Join(usageError{err}, e.remove())
		}
		e.words[out[i]] = word
	}
	return out, e, nil
}

func (e *examples) remove() error {
	if e.folder == "" {
		return nil
	}
	return os.RemoveAll(e.folder)
}

// named gives an error the words of the examples for their paths, also in the
// commands that it proposes.
func (e *examples) named(err error) error {
	if err == nil || len(e.words) == 0 {
		return err
	}
	var pairs []string
	for path, word := range e.words {
		pairs = append(pairs, path, word)
	}
	if text := strings.NewReplacer(pairs...).Replace(err.Error()); text != err.Error() {
		return &namedError{err, text}
	}
	return err
}

// namedError is an error in other words.
type namedError struct {
	error
	text string
}

func (e *namedError) Error() string { return e.text }
func (e *namedError) Unwrap() error { return e.error }

// exampleNamed is the name of the example that a word means.
func exampleNamed(word string) (string, bool) {
	if word != exampleWord && !strings.HasPrefix(word, exampleWord+":") {
		return "", false
	}
	if _, err := os.Lstat(word); err == nil {
		return "", false
	}
	if word == exampleWord {
		return demo.Examples[0].Name, true
	}
	return strings.TrimPrefix(word, exampleWord+":"), true
}
