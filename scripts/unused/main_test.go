package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFindUnused judges a module of three packages in which every kind of name
// occurs once.
func TestFindUnused(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module example.org/m\n\ngo 1.26\n",
		"main.go":     "package main\n\nimport \"example.org/m/a\"\n\nfunc main() { a.Used(); a.T{}.Called() }\n",
		"a/a.go":      sourceOfA,
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { ByTests(); T{}.Uncalled() }\n",
		"atest/h.go":  "package atest\n\n// Help serves tests.\nfunc Help() {}\n",
		"a/x_test.go": "package a_test\n\nimport (\n\t\"testing\"\n\n\t\"example.org/m/atest\"\n)\n\nfunc TestX(t *testing.T) { atest.Help() }\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	findings, err := findUnused(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range findings {
		got = append(got, f.name+" "+f.problem)
	}
	want := []string{
		"ByTests is used by tests only",
		"Own is exported and used in its own package only",
		"recursive is used by nobody",
		"T.Uncalled is a method that nothing calls but tests",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if findings, err = findUnused(dir, []string{"a"}); err != nil || len(findings) != 0 {
		t.Errorf("without folder a: %v, error %v", findings, err)
	}
}

const sourceOfA = `package a

import "fmt"

func ByTests() {}

func Own() {}

func recursive() { recursive() }

func Used() { Own(); fmt.Print(T{}) }

type T struct{}

func (T) Called() {}

func (T) String() string { return "" }

func (T) Uncalled() {}

// Excused is for later.
//
// unused: the reason.
func Excused() {}

const (
	One = iota
	Two
)

var _ = One
`
