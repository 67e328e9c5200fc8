// Command notices writes the licenses of everything that is in the program: Go,
// the modules that are linked, and the packages of the page. With -check it says
// whether the file is up to date.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const file = "THIRD_PARTY_NOTICES.txt"

func main() {
	check := flag.Bool("check", false, "say whether the file is up to date, and write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	parts, err := goParts()
	if err != nil {
		return err
	}
	npm, err := npmParts("web")
	if errors.Is(err, fs.ErrNotExist) && check {
		fmt.Println("notices: the packages of the page are not installed: their names are checked, and not their texts")
		return checkNames(append(parts, npm...))
	}
	if err != nil {
		return fmt.Errorf("%w; run 'npm ci' in web", err)
	}
	text := notices(append(parts, npm...))
	if !check {
		return os.WriteFile(file, text, 0o644)
	}
	have, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, text) {
		return fmt.Errorf("%s is out of date; run 'make notices'", file)
	}
	return nil
}

// part is something that others wrote, and what they want to be said with it.
type part struct{ name, license string }

// goParts are Go itself and the modules that are linked.
func goParts() ([]part, error) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/isobath").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	// Its version is that of whoever builds.
	lines = append([]string{"Go, its standard library and runtime\t" + strings.TrimSpace(string(root))}, slices.Compact(lines)...)
	var parts []part
	for _, line := range lines {
		name, dir, ok := strings.Cut(line, "\t")
		if !ok {
			continue // packages without a module are Go's
		}
		text, err := licenseIn(dir)
		if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(name, "Go,") {
			text, err = licenseIn(filepath.Join(dir, "..")) // as Debian packages it
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		parts = append(parts, part{name, text})
	}
	return parts, nil
}

// npmParts are the packages of the lock file that are not for development only.
func npmParts(folder string) (parts []part, err error) {
	text, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string
			Dev     bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, err
	}
	var missing error
	for path, p := range lock.Packages {
		if path == "" || p.Dev {
			continue
		}
		license, wrong := licenseIn(filepath.Join(folder, filepath.FromSlash(path)))
		if wrong != nil {
			missing = fmt.Errorf("%s: %w", path, wrong)
		}
		_, name, _ := strings.Cut(path, "node_modules/")
		parts = append(parts, part{name + " " + p.Version, license})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.name, b.name) })
	return parts, missing
}

// licenseIn joins the license and the notice in a folder.
func licenseIn(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var all []string
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "NOTICE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		all = append(all, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	if len(all) == 0 {
		return licenseField(dir)
	}
	return strings.Join(all, "\n\n"), nil
}

// licenseField is what a package without a file says about its license.
func licenseField(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", fmt.Errorf("no license: %w", err)
	}
	var p struct {
		License string
		Author  any
	}
	if err := json.Unmarshal(text, &p); err != nil || p.License == "" {
		return "", fmt.Errorf("no license in %s, %w", dir, err)
	}
	return fmt.Sprintf("License: %s. Author: %v. The package has no text of it.", p.License, p.Author), nil
}

// notices writes every text once, under the names of those that have it.
func notices(parts []part) []byte {
	var out bytes.Buffer
	out.WriteString("Isobath contains software of others. What they want to be said with it follows.\nMade by 'make notices'.\n")
	var texts []string
	names := map[string][]string{}
	for _, p := range parts {
		if names[p.license] == nil {
			texts = append(texts, p.license)
		}
		names[p.license] = append(names[p.license], p.name)
	}
	for _, text := range texts {
		fmt.Fprintf(&out, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 79), strings.Join(names[text], "\n"), text)
	}
	return out.Bytes()
}

func checkNames(parts []part) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if !strings.Contains(string(text), "\n"+p.name+"\n") {
			return fmt.Errorf("%s does not name %s; run 'make notices'", file, p.name)
		}
	}
	return nil
}
