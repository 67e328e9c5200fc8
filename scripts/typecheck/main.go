// Command typecheck says whether a program compiles for a platform we do not build
// on, from the sources alone:
//
//	go run ./scripts/typecheck darwin/arm64 ./cmd/isobath
//
// A build or a vet for that platform compiles the standard library and every module
// once more, minutes on an empty cache. The types of a package are enough to find
// what differs between platforms (a name or a field that only one of them has), and
// of others' packages only what they declare is looked at. It ends with 1 when a
// package of ours has an error.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: typecheck OS/ARCH PACKAGE…")
		os.Exit(2)
	}
	found, err := check(".", os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
		os.Exit(2)
	}
	for _, e := range found {
		fmt.Println(e)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// listed is what the go command says of a package.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string // names in the source that mean another package
	Module          *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

func (p *listed) ours() bool { return p.Module != nil && p.Module.Main }

// check returns the errors of our packages among those that the patterns name and
// their dependencies, in folder dir, for a platform such as darwin/arm64.
func check(dir, platform string, patterns []string) ([]error, error) {
	goos, goarch, ok := strings.Cut(platform, "/")
	sizes := types.SizesFor("gc", goarch)
	if !ok || sizes == nil {
		return nil, fmt.Errorf("%q is not a platform such as darwin/arm64", platform)
	}
	packages, err := list(dir, goos, goarch, patterns)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	var found []error
	for _, p := range packages { // each after what it imports
		if p.ImportPath == "unsafe" {
			continue
		}
		if p.Error != nil {
			return nil, errors.New(p.Error.Err)
		}
		config := types.Config{
			Importer:         imports{p.ImportMap, done},
			Sizes:            sizes,
			IgnoreFuncBodies: !p.ours(),
			FakeImportC:      true,
			Error: func(err error) {
				// What others declare may need a compiler's own names.
				if p.ours() {
					found = append(found, err)
				}
			},
		}
		if p.Module != nil && p.Module.GoVersion != "" {
			config.GoVersion = "go" + p.Module.GoVersion
		}
		files, err := parse(fset, p)
		if err != nil {
			return nil, err
		}
		// The errors were taken one by one; the package is what could be read of it.
		done[p.ImportPath], _ = config.Check(p.ImportPath, fset, files, nil)
	}
	return found, nil
}

// list asks the go command for packages and what they import, dependencies first.
func list(dir, goos, goarch string, patterns []string) ([]*listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-e", "-json=Dir,ImportPath,GoFiles,ImportMap,Module,Error", "--"}, patterns...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var packages []*listed
	var broken error
	for d := json.NewDecoder(out); ; {
		p := &listed{}
		if broken = d.Decode(p); broken != nil {
			break
		}
		packages = append(packages, p)
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	if broken != io.EOF {
		return nil, fmt.Errorf("go list: %w", broken)
	}
	return packages, nil
}

func parse(fset *token.FileSet, p *listed) ([]*ast.File, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// imports finds what a package imports among those that were checked before it.
type imports struct {
	renamed map[string]string
	done    map[string]*types.Package
}

func (i imports) Import(path string) (*types.Package, error) {
	if to, ok := i.renamed[path]; ok {
		path = to
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s is not among what go list named", path)
}
