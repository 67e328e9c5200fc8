// Command unused lists names that nobody needs: exported names that only their
// own package uses, and names that only tests use.
//
//	go run ./scripts/unused [-except FOLDER,…]
//
// It ends with 1 when there are any. A name that should stay although nobody
// uses it yet has "unused:" and the reason in its comment. What tests use counts
// only in packages that serve tests: their name ends in test, or only tests
// import them. Methods are judged by name alone, because an interface may call
// them; fields not at all, because encoders read them; constants by their block.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

func main() {
	except := flag.String("except", "", "folders that are not judged")
	flag.Parse()
	findings, err := findUnused(".", strings.FieldsFunc(*except, func(r rune) bool { return r == ',' }))
	if err != nil {
		fmt.Fprintln(os.Stderr, "unused:", err)
		os.Exit(2)
	}
	for _, f := range findings {
		fmt.Printf("%s: %s %s\n", f.where, f.name, f.problem)
	}
	if len(findings) > 0 {
		fmt.Printf("%d names; delete them, or give them a small first letter\n", len(findings))
		os.Exit(1)
	}
}

// finding is one name that could go.
type finding struct{ where, name, problem string }

// findUnused loads the module at dir and judges every name of it that is not in
// the folders excepted.
func findUnused(dir string, except []string) ([]finding, error) {
	m, err := load(dir)
	if err != nil {
		return nil, err
	}
	var out []finding
	for _, d := range m.declared {
		skipped := slices.ContainsFunc(except, func(folder string) bool { return strings.HasPrefix(d.where, folder+"/") })
		if problem := m.judge(d); problem != "" && !skipped {
			out = append(out, finding{d.where, d.name, problem})
		}
	}
	return out, nil
}

// judge returns what is wrong with a name, "" if nothing is.
func (m *module) judge(d declaration) string {
	if d.excused || m.elsewhere[d.short] {
		return ""
	}
	u := m.uses[d.key]
	if d.method {
		// A call through an interface names another method.
		if m.methodUses[d.short] || u.tests && d.forTests {
			return ""
		}
		return "is a method that nothing calls but tests"
	}
	if len(d.block) > 0 && slices.ContainsFunc(d.block, func(key string) bool { return m.uses[key].own || m.uses[key].others }) {
		return "" // numbers of a format or an enumeration stand together
	}
	switch {
	case u.tests && d.forTests:
		return ""
	case !u.own && !u.others && !u.tests:
		return "is used by nobody"
	case !u.own && !u.others:
		return "is used by tests only"
	case d.exported && !u.others && !u.tests && !d.needed:
		return "is exported and used in its own package only"
	}
	return ""
}
