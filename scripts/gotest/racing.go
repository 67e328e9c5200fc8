package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goPackage is what `go list` says of a package.
type goPackage struct {
	ImportPath, Dir  string
	GoFiles, Imports []string
	Module           struct{ Path string }
}

// shared are packages for code that several goroutines run.
var shared = []string{"sync", "sync/atomic", "net/http", "net/http/httptest", "github.com/isobath/isobath/internal/base/parallel"}

// analyses are areas whose packages compute one answer: their goroutines are those of
// a parallel loop, and whoever asks for several answers at once is of another area,
// whose tests call them under the detector. make races watches them by themselves too.
var analyses = []string{"code", "formats", "machine", "memory", "messages", "loops", "locality"}

// printRacing prints the packages in which the race detector can find something, as
// folders below that of the module: what serves, asks, records and shares.
// The others compute in one goroutine or one loop, ten times as slowly under it, even
// where their tests run beside each other. Where several goroutines use one of them,
// they are of a package that is printed, and the detector watches all code of its tests.
func printRacing(show io.Writer, patterns ...string) error {
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,Imports,Module"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	for packages := json.NewDecoder(bytes.NewReader(out)); packages.More(); {
		var p goPackage
		if err := packages.Decode(&p); err != nil {
			return err
		}
		racing, err := p.racing()
		if err != nil {
			return err
		}
		folder := "." + strings.TrimPrefix(p.ImportPath, p.Module.Path)
		if racing && !isAnalysis(folder) {
			fmt.Fprintln(show, folder)
		}
	}
	return nil
}

func isAnalysis(folder string) bool {
	return slices.ContainsFunc(analyses, func(area string) bool { return strings.HasPrefix(folder, "./internal/"+area+"/") })
}

// racing reports whether the code of the package runs in several goroutines.
func (p *goPackage) racing() (bool, error) {
	for _, path := range p.Imports {
		if slices.Contains(shared, path) {
			return true, nil
		}
	}
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		if startsGoroutines(file) {
			return true, nil
		}
	}
	return false, nil
}

// startsGoroutines finds go statements, and tests that run beside others.
func startsGoroutines(code ast.Node) bool {
	found := false
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "Parallel"
		}
		return !found
	})
	return found
}
