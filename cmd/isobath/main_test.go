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

// TestScripts runs the scripts that show how the command behaves. They need
// nothing but the repository.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true})
}

// TestSharedScripts runs the scripts that need the shared data; $DATA is where
// it is.
func TestSharedScripts(t *testing.T) {
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

// TestRouteCommands holds that the commands that the table of the API names are
// there, with their flags.
func TestRouteCommands(t *testing.T) {
	s, err := server.New(server.Options{Token: "x", Assets: fstest.MapFS{}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, route := range s.Table() {
		if route.Command == "" {
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
