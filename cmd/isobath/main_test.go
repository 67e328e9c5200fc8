package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

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
