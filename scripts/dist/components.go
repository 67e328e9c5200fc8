package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bill is a list of components in the form of CycloneDX 1.5.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Serial     string      `json:"serialNumber"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref,omitempty"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// components writes what a binary is made of: the modules that it says itself (go
// version -m), Go, and the packages of the page.
func (r *release) components(binary, path string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	list := []component{{Type: "library", Name: "std", Version: info.GoVersion, PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version})
	}
	page, err := pagePackages(filepath.Join(r.root, "web", "package-lock.json"))
	if err != nil {
		return err
	}
	list = append(list, page...)
	for i := range list {
		list[i].Ref = list[i].PURL
	}
	b := bill{
		Format: "CycloneDX", Spec: "1.5", Version: 1, Components: list,
		Serial: uuid(sum), // another binary has another list
		Metadata: metadata{r.when.Format(time.RFC3339), component{Type: "application", Ref: "isobath", Name: "isobath", Version: r.version,
			Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", sum)}}}},
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return write(path, append(text, '\n'))
}

// uuid is a name of version 8 (RFC 9562: of our own making) from a checksum.
func uuid(sum [sha256.Size]byte) string {
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// pagePackages are the npm packages that end up in the page.
func pagePackages(lock string) ([]component, error) {
	text, err := os.ReadFile(lock)
	if err != nil {
		return nil, err
	}
	var known struct {
		Packages map[string]struct {
			Version string
			Dev     bool
		}
	}
	if err := json.Unmarshal(text, &known); err != nil {
		return nil, fmt.Errorf("%s: %w", lock, err)
	}
	var out []component
	for path, p := range known.Packages {
		_, name, ok := strings.Cut(path, "node_modules/")
		if !ok || p.Dev {
			continue
		}
		out = append(out, component{Type: "library", Name: name, Version: p.Version, PURL: "pkg:npm/" + strings.ReplaceAll(name, "@", "%40") + "@" + p.Version})
	}
	slices.SortFunc(out, func(a, b component) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
