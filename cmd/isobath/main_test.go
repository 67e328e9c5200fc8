package main

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/base/test"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"isobath": main,
	})
}

// verbsOneByOne is why a test is left out under the race detector: it looks at what
// verbs print, which are processes of their own or follow each other.
const verbsOneByOne = "one verb after the other; the packages behind them are watched by their own tests, the server of this one by TestLoad"

// TestScripts runs the scripts that show how the command behaves. They need
// nothing but the repository.
func TestScripts(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true})
}

// TestSharedScripts runs the scripts that need the shared data; $DATA is where
// it is.
func TestSharedScripts(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	data := test.Shared(t, "samples")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/shared", RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			abs, err := filepath.Abs(filepath.Dir(data))
			e.Setenv("DATA", abs)
			return err
		},
	})
}

// pageOnly are the routes about data that no command answers, and why.
var pageOnly = map[string]string{
	"prepare":              "gets ready, answers nothing",
	"guide":                "what the page may offer; the verbs say it in their help",
	"names":                "the text of a file of the run",
	"trace/picture":        "a picture; export draws it",
	"trace/window":         "what the page shows of a stretch of time that was dragged",
	"trace/samples":        "a count beside a picture; report --where has it",
	"cycles/spiral":        "a picture; cycles --frames draws it",
	"cycles/sector":        "a part of a picture",
	"cycles/references":    "rows under the pointer",
	"cycles/projection":    "a picture",
	"locality/map":         "a picture",
	"locality/paired":      "which rows of two tables are the same; diff pairs its own",
	"mesh/picture":         "a picture; mesh -o writes it for viewers",
	"mesh/overtime/select": "the words of a selection that was dragged; --where takes them",
	"mesh/cell":            "what is under the pointer; report --where has its samples",
	"mesh/cells":           "what is under the pointer of another view",
	"mesh/brush":           "a rectangle of a plot as a selection",
	"mesh/select":          "tells viewers what is selected",
	"mesh/viewers":         "who is linked",
	"mesh/link":            "mesh --link does it",
	"mesh/attach":          "open --mesh does it",
}

// TestRouteCommands holds that the commands that the table of the API names are
// there, with their flags, and that every analysis names one: README says that
// each is also a command.
func TestRouteCommands(t *testing.T) {
	s, err := server.New(server.Options{Token: "x", Assets: fstest.MapFS{}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, route := range s.Table() {
		name := strings.TrimPrefix(route.Path, "runs/{id}/")
		if _, known := pageOnly[name]; known || route.Kind == "runs" {
			continue
		}
		if route.Command == "" {
			t.Errorf("%s %s is no command; make it one, or say in pageOnly why not", route.Method, route.Path)
			continue
		}
		words := strings.Fields(route.Command)
		verb, _, err := newRoot().Find(words[1:])
		if err != nil || verb.Name() != words[1] {
			t.Errorf("%s %s: there is no %q", route.Method, route.Path, route.Command)
			continue
		}
		for _, word := range words[2:] {
			if name, ok := strings.CutPrefix(word, "--"); ok && verb.Flags().Lookup(name) == nil {
				t.Errorf("%s %s: %s has no flag --%s", route.Method, route.Path, verb.Name(), name)
			}
		}
	}
}
