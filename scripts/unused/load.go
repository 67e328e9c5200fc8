package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// module is every name that a module declares and who uses it.
type module struct {
	declared     []declaration
	uses         map[string]use
	methodUses   map[string]bool // methods named outside tests, or in an interface
	elsewhere    map[string]bool // words of files that this build leaves out
	interfacesOf map[string]bool // packages whose interfaces are known
	// within names, for a word inside a declaration, what is declared there: a
	// function that calls itself and a type in its own methods are not used.
	within map[*ast.Ident]string
	fset   *token.FileSet
	dir    string
}

// declaration is one package-level name or method.
type declaration struct {
	key, name, short string
	where            string
	exported, method bool
	excused          bool
	needed           bool     // a part of something exported
	forTests         bool     // of a package that serves tests
	block            []string // the constants declared with it
}

// use says who uses a name: its own package, other packages, tests.
type use struct{ own, others, tests bool }

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export, Name      string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
	forTests                           bool
}

func load(dir string) (*module, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	ours, all, err := list(root)
	if err != nil {
		return nil, err
	}
	imported := map[string]bool{}
	for _, p := range ours {
		if strings.Contains(p.ImportPath, "/bench") {
			continue // a benchmark makes its inputs as tests do
		}
		for _, path := range p.Imports {
			imported[path] = true
		}
	}
	exports := map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	m := &module{
		uses: map[string]use{}, elsewhere: map[string]bool{},
		// The errors package asks for the last three without a named interface.
		methodUses:   map[string]bool{"Error": true, "Is": true, "As": true, "Unwrap": true},
		interfacesOf: map[string]bool{}, within: map[*ast.Ident]string{}, fset: token.NewFileSet(), dir: root,
	}
	shared := importer.ForCompiler(m.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	read := map[string]bool{}
	for _, p := range ours {
		for _, n := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			read[filepath.Join(p.Dir, n)] = true
		}
		p.forTests = servesTests(p.ImportPath) || p.Name != "main" && !imported[p.ImportPath]
		if err := m.check(p, shared); err != nil {
			return nil, err
		}
	}
	return m, m.readElsewhere(read)
}

// list asks go for the packages of the module, what their tests import, and
// where the export data of all that is.
func list(dir string) (ours, all []*listed, err error) {
	ours, err = goList(dir, "-json=ImportPath,Dir,Name,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	if err != nil {
		return nil, nil, err
	}
	wanted := []string{"-deps", "-export", "-json=ImportPath,Export"}
	seen := map[string]bool{"C": true}
	for _, p := range ours {
		for _, path := range slices.Concat([]string{p.ImportPath}, p.TestImports, p.XTestImports) {
			if !seen[path] {
				seen[path] = true
				wanted = append(wanted, path)
			}
		}
	}
	all, err = goList(dir, wanted...)
	return ours, all, err
}

func goList(dir string, args ...string) ([]*listed, error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	var packages []*listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listed{}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// check reads a package with its tests and notes what it declares and uses.
func (m *module) check(p *listed, shared types.Importer) error {
	plain, err := m.parse(p.Dir, p.GoFiles)
	if err != nil {
		return err
	}
	inside, err := m.parse(p.Dir, p.TestGoFiles)
	if err != nil {
		return err
	}
	outside, err := m.parse(p.Dir, p.XTestGoFiles)
	if err != nil {
		return err
	}
	info := newInfo()
	pkg := typeCheck(m.fset, p.ImportPath, append(plain[:len(plain):len(plain)], inside...), shared, info)
	m.declare(p, plain, pkg, info)
	m.note(p.ImportPath, info)
	if len(outside) > 0 {
		info := newInfo()
		typeCheck(m.fset, p.ImportPath+"_test", outside, replaced{shared, p.ImportPath, pkg}, info)
		m.note(p.ImportPath+"_test", info)
	}
	return nil
}

func (m *module) parse(dir string, names []string) ([]*ast.File, error) {
	var out []*ast.File
	for _, n := range names {
		f, err := parser.ParseFile(m.fset, filepath.Join(dir, n), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func newInfo() *types.Info {
	return &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
}

// typeCheck goes on after errors: a test that imports a package which imports
// the one under test sees two versions of it, and the names are right in both.
func typeCheck(fset *token.FileSet, path string, files []*ast.File, from types.Importer, info *types.Info) *types.Package {
	conf := types.Config{Importer: from, Error: func(error) {}, FakeImportC: true}
	pkg, _ := conf.Check(path, fset, files, info)
	return pkg
}

// replaced imports one package as it is with its tests.
type replaced struct {
	types.Importer
	path string
	pkg  *types.Package
}

func (r replaced) Import(path string) (*types.Package, error) {
	if path == r.path {
		return r.pkg, nil
	}
	return r.Importer.Import(path)
}

// declare notes the package-level names and methods of a package outside its
// tests. What other people import is not ours to judge.
func (m *module) declare(p *listed, files []*ast.File, pkg *types.Package, info *types.Info) {
	if strings.Contains(p.ImportPath, "/clients/") {
		return
	}
	for _, from := range pkg.Imports() {
		m.noteInterfaces(from)
	}
	needed := exposed(pkg)
	for _, f := range files {
		if ast.IsGenerated(f) {
			continue
		}
		for _, decl := range f.Decls {
			m.noteWithin(p.ImportPath, decl)
			first := len(m.declared)
			var block []string
			eachName(decl, func(id *ast.Ident, doc string) {
				obj := info.Defs[id]
				if obj == nil || id.Name == "_" || id.Name == "main" || id.Name == "init" {
					return
				}
				m.declared = append(m.declared, m.declaration(p, id, obj, doc, needed))
				if _, ok := obj.(*types.Const); ok {
					block = append(block, keyOf(obj))
				}
			})
			for i := first; i < len(m.declared) && len(block) > 1; i++ {
				m.declared[i].block = block
			}
		}
	}
}

// noteInterfaces marks the methods that other packages may call through their
// interfaces.
func (m *module) noteInterfaces(pkg *types.Package) {
	if m.interfacesOf[pkg.Path()] {
		return
	}
	m.interfacesOf[pkg.Path()] = true
	for _, name := range pkg.Scope().Names() {
		if t, ok := pkg.Scope().Lookup(name).Type().Underlying().(*types.Interface); ok {
			for f := range t.Methods() {
				m.methodUses[f.Name()] = true
			}
		}
	}
}

// servesTests reports packages that serve the tests of several others.
func servesTests(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return strings.HasSuffix(part, "test") })
}

// noteWithin marks the words inside a declaration that speak of itself.
func (m *module) noteWithin(path string, decl ast.Decl) {
	mark := func(n ast.Node, name string) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name == name {
				m.within[id] = path + "." + name
			}
			return true
		})
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			mark(d, d.Name.Name)
			return
		}
		ast.Inspect(d.Recv, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				m.within[id] = path + "." + id.Name
			}
			return true
		})
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if t, ok := s.(*ast.TypeSpec); ok {
				mark(t.Type, t.Name.Name)
			}
		}
	}
}

// exposed returns the types that exported names of a package speak of, and the
// values of exported types: an enumeration is exported as a whole.
func exposed(pkg *types.Package) map[types.Object]bool {
	e := exposure{pkg: pkg, found: map[types.Object]bool{}}
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		if n, ok := obj.Type().(*types.Named); ok && n.Obj() != obj && n.Obj().Exported() && n.Obj().Pkg() == pkg {
			if _, ok := obj.(*types.Const); ok {
				e.found[obj] = true
			}
		}
		t, ok := obj.(*types.TypeName)
		if !ok {
			e.visit(obj.Type())
			continue
		}
		if n, ok := t.Type().(*types.Named); ok {
			e.visit(n.Underlying())
			for f := range n.Methods() {
				if f.Exported() {
					e.visit(f.Signature())
				}
			}
		}
	}
	return e.found
}

// exposure walks types down to the named ones.
type exposure struct {
	pkg   *types.Package
	found map[types.Object]bool
}

func (e *exposure) visit(t types.Type) {
	switch t := t.(type) {
	case *types.Named:
		e.found[t.Obj()] = true
		for a := range t.TypeArgs().Types() {
			e.visit(a)
		}
	case *types.Alias:
		e.found[t.Obj()] = true
	case interface{ Elem() types.Type }:
		if m, ok := t.(*types.Map); ok {
			e.visit(m.Key())
		}
		e.visit(t.Elem())
	case *types.Signature:
		for v := range t.Params().Variables() {
			e.visit(v.Type())
		}
		for v := range t.Results().Variables() {
			e.visit(v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				e.visit(f.Type())
			}
		}
	case *types.Interface:
		for f := range t.Methods() {
			e.visit(f.Signature())
		}
	}
}

func (m *module) declaration(p *listed, id *ast.Ident, obj types.Object, doc string, needed map[types.Object]bool) declaration {
	d := declaration{key: keyOf(obj), short: id.Name, exported: id.IsExported() && p.Name != "main"}
	at := m.fset.Position(id.Pos())
	file, err := filepath.Rel(m.dir, at.Filename)
	if err != nil {
		file = at.Filename
	}
	d.where = fmt.Sprintf("%s:%d", file, at.Line)
	d.name = strings.TrimPrefix(d.key, p.ImportPath+".")
	d.excused = strings.Contains(doc, "unused:")
	// Others satisfy an interface, and return an error, without naming it. The
	// names of wire types are those of the page's types.
	d.needed = needed[obj] || types.IsInterface(obj.Type()) || strings.HasPrefix(filepath.Base(file), "wire")
	d.forTests = p.forTests
	if f, ok := obj.(*types.Func); ok {
		d.method = f.Signature().Recv() != nil
	}
	return d
}

// eachName visits the names of a declaration with their comments.
func eachName(decl ast.Decl, visit func(*ast.Ident, string)) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		visit(d.Name, d.Doc.Text())
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				visit(s.Name, d.Doc.Text()+s.Doc.Text()+s.Comment.Text())
			case *ast.ValueSpec:
				for _, n := range s.Names {
					visit(n, d.Doc.Text()+s.Doc.Text()+s.Comment.Text())
				}
			}
		}
	}
}

// keyOf names an object the same in source and in export data. A part of a
// generic thing has the name of the thing.
func keyOf(obj types.Object) string {
	if obj.Pkg() == nil {
		return ""
	}
	key := obj.Pkg().Path() + "."
	if f, ok := obj.(*types.Func); ok {
		f = f.Origin()
		if recv := f.Signature().Recv(); recv != nil {
			return key + receiver(recv.Type()) + "." + f.Name()
		}
		return key + f.Name()
	}
	if obj.Parent() != obj.Pkg().Scope() {
		return ""
	}
	return key + obj.Name()
}

func receiver(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return "interface"
}

// note adds the uses of one checked package.
func (m *module) note(path string, info *types.Info) {
	path, outside := strings.CutSuffix(path, "_test")
	for id, obj := range info.Defs {
		if f, ok := obj.(*types.Func); ok && f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type()) {
			m.methodUses[id.Name] = true
		}
	}
	for id, obj := range info.Uses {
		key := keyOf(obj)
		if key == "" || m.within[id] == key {
			continue
		}
		u := m.uses[key]
		test := !servesTests(path) && (outside || strings.HasSuffix(m.fset.Position(id.Pos()).Filename, "_test.go"))
		switch {
		case test:
			u.tests = true
		case obj.Pkg().Path() == path:
			u.own = true
		default:
			u.others = true
		}
		m.uses[key] = u
		if f, ok := obj.(*types.Func); ok && !test && f.Signature().Recv() != nil {
			m.methodUses[f.Name()] = true
		}
	}
}

// readElsewhere collects the words of files that are not part of this build:
// other systems, other modules.
func (m *module) readElsewhere(read map[string]bool) error {
	return filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || read[path] {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil // a file that is no Go for anybody uses nothing
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				m.elsewhere[id.Name] = true
			}
			return true
		})
		return nil
	})
}
