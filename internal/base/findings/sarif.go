package findings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// What follows is the part of SARIF 2.1.0 that is written.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool    sarifTool     `json:"tool"`
	Results []sarifResult `json:"results"`
	// Properties count what is not listed.
	Properties map[string]any `json:"properties,omitempty"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID    string    `json:"id"`
	Short sarifText `json:"shortDescription"`
	Help  sarifText `json:"help"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			StartLine int `json:"startLine"`
		} `json:"region"`
	} `json:"physicalLocation"`
}

const (
	sarifResults = 5000 // code hosts take no more
	sarifSchema  = "https://json.schemastore.org/sarif-2.1.0.json"
)

// SARIF writes one result a finding. Of findings about a file outside the tree
// only the number is written: a code host could not show them.
func (l *List) SARIF(w io.Writer) error {
	run := sarifRun{Results: []sarifResult{}, Tool: sarifTool{sarifDriver{Name: "isobath", Version: l.Version, Rules: []sarifRule{}}}}
	for _, r := range l.Rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{r.ID, sarifText{r.Short}, sarifText{r.Help}})
	}
	outside, more := 0, 0
	for i := range l.Findings {
		f := &l.Findings[i]
		file := l.place(f)
		switch {
		case file == "" && f.File != "":
			outside++
		case len(run.Results) == sarifResults:
			more++
		default:
			run.Results = append(run.Results, f.sarif(file))
		}
	}
	run.Properties = map[string]any{"filesOutside": outside, "leftOut": more}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}})
}

func (f *Finding) sarif(file string) sarifResult {
	out := sarifResult{RuleID: f.Rule, Level: string(f.Level), Message: sarifText{f.Text}}
	// What stays the same when lines above it come and go.
	stable := []string{path.Base(filepath.ToSlash(f.File)), f.Function, f.Source}
	if f.File == "" {
		stable = []string{f.Rule, f.Name, ""}
	}
	sum := sha256.Sum256([]byte(strings.Join(stable, "\x00")))
	out.Fingerprints = map[string]string{"isobath/v1": hex.EncodeToString(sum[:16])}
	if file != "" {
		var at sarifLocation
		at.Physical.Artifact.URI = (&url.URL{Path: file}).String()
		at.Physical.Region.StartLine = f.Line
		out.Locations = []sarifLocation{at}
	}
	return out
}

// inTree names a file relative to the root of its tree. A file that was built
// elsewhere is looked for by the end of its path.
func inTree(file, root string) (string, bool) {
	if root == "" {
		root = workTree(file)
	}
	if root == "" {
		return filepath.ToSlash(file), !filepath.IsAbs(file) && filepath.IsLocal(file)
	}
	if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel), true
	}
	parts := strings.Split(strings.Trim(filepath.ToSlash(file), "/"), "/")
	for i := range parts {
		rel := path.Join(parts[i:]...)
		if !filepath.IsLocal(rel) {
			continue
		}
		if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(rel))); err == nil && !info.IsDir() {
			return rel, true
		}
	}
	return "", false
}

// workTree is the folder around a file that a version control keeps.
func workTree(file string) string {
	if !filepath.IsAbs(file) {
		return ""
	}
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// where is "file:line" by the name that is shown, or empty.
func (l *List) where(f *Finding) string {
	file := l.place(f)
	if file == "" {
		if file = f.File; file == "" || f.Line < 1 {
			return file
		}
	}
	return fmt.Sprintf("%s:%d", file, f.Line)
}
