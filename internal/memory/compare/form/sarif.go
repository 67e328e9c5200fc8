package form

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

	"github.com/isobath/isobath/internal/memory/align"
	"github.com/isobath/isobath/internal/memory/compare"
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
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri,omitempty"`
	Rules          []sarifRule `json:"rules"`
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
	Locations    []sarifLocation   `json:"locations"`
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
	ruleMore     = "isobath/more"
	ruleNew      = "isobath/new"
	sarifResults = 5000
	sarifSchema  = "https://json.schemastore.org/sarif-2.1.0.json"
)

// SARIF writes one result a line or function that costs more, for tools that show
// them in the code. Files are named relative to root; without one, to the work
// tree around each.
func SARIF(w io.Writer, c *compare.Comparison, root, version string) error {
	run := sarifRun{Results: []sarifResult{}, Tool: sarifTool{sarifDriver{Name: "isobath", Version: version, Rules: []sarifRule{
		{ruleMore, sarifText{"The line costs more than before"}, sarifText{"Its cost grew beyond what chance explains; the message has both costs and the interval."}},
		{ruleNew, sarifText{"The line is new and costs"}, sarifText{"The version compared with has no such line."}},
	}}}}
	outside, more := 0, 0
	for _, r := range Rows(c) {
		if r.Verdict != compare.More || r.File == "" || r.Line == 0 {
			continue
		}
		name, ok := inTree(r.File, root)
		switch {
		case !ok:
			outside++
			continue
		case len(run.Results) == sarifResults:
			more++
			continue
		}
		run.Results = append(run.Results, result(c, r, name))
	}
	run.Properties = map[string]any{"filesOutside": outside, "leftOut": more}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}})
}

func result(c *compare.Comparison, r *compare.Row, file string) sarifResult {
	out := sarifResult{RuleID: ruleMore, Level: "note", Message: sarifText{c.Says(r)}}
	if r.Matched == align.OnlyB {
		out.RuleID = ruleNew
	}
	if r.Fails {
		out.Level = "error"
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", path.Base(r.File), r.Function, r.Text))
	out.Fingerprints = map[string]string{"isobath/v1": hex.EncodeToString(sum[:16])}
	var l sarifLocation
	l.Physical.Artifact.URI = (&url.URL{Path: file}).String()
	l.Physical.Region.StartLine = r.Line
	out.Locations = []sarifLocation{l}
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
