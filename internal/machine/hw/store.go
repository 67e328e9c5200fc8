package hw

import (
	"encoding/json"
	"fmt"
	"strings"
)

// storeVersion is the version of the stored form. Version 1 lists objects by
// kind and CPU list; Build makes the tree again when it is read.
const storeVersion = 1

type storedTopology struct {
	Version   int            `json:"version"`
	Name      string         `json:"name,omitempty"`
	Source    string         `json:"source,omitempty"`
	Objects   []storedObject `json:"objects"`
	Distances *Distances     `json:"distances,omitempty"`
	Classes   []storedClass  `json:"classes,omitempty"`
	Blocked   string         `json:"blocked,omitempty"`
	Warnings  []string       `json:"warnings,omitempty"`

	Accelerators []Accelerator `json:"accelerators,omitempty"`
}

type storedObject struct {
	Type        string `json:"type"`
	OS          *int   `json:"os,omitempty"`
	CPUs        string `json:"cpus"`
	Size        uint64 `json:"size,omitempty"`
	Line        int    `json:"line,omitempty"`
	Ways        int    `json:"ways,omitempty"`
	Model       string `json:"model,omitempty"`
	Memory      string `json:"memory,omitempty"`
	Tier        string `json:"tier,omitempty"`
	Bandwidth   uint64 `json:"bandwidth,omitempty"`
	Delay       uint64 `json:"delay,omitempty"`
	Instruction bool   `json:"instruction,omitempty"`
}

type storedClass struct {
	Name       string `json:"name"`
	CPUs       string `json:"cpus"`
	Efficiency int    `json:"efficiency"`
}

// MarshalJSON writes the normalised description a run stores.
func (t *Topology) MarshalJSON() ([]byte, error) {
	s := storedTopology{
		Version: storeVersion, Name: t.spec.Name, Source: t.spec.Source, Distances: t.spec.Distances,
		Blocked: t.spec.Blocked.String(), Warnings: t.spec.Warnings, Accelerators: t.spec.Accelerators,
	}
	for _, o := range t.spec.Objects {
		so := storedObject{
			Type: o.Kind.String(), CPUs: o.CPUs.String(), Size: o.Size, Line: o.Line, Ways: o.Ways,
			Model: o.Model, Memory: o.Memory, Tier: o.Tier, Bandwidth: o.Bandwidth, Delay: o.Delay, Instruction: o.Instruction,
		}
		if o.OS >= 0 {
			so.OS = &o.OS
		}
		s.Objects = append(s.Objects, so)
	}
	for _, c := range t.spec.Classes {
		s.Classes = append(s.Classes, storedClass{c.Name, c.CPUs.String(), c.Efficiency})
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Topology) UnmarshalJSON(data []byte) error {
	var s storedTopology
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("stored topology: %w", err)
	}
	if s.Version != storeVersion {
		return fmt.Errorf("stored topology has version %d; this isobath reads version %d", s.Version, storeVersion)
	}
	spec := Spec{Name: s.Name, Source: s.Source, Distances: s.Distances, Warnings: s.Warnings, Accelerators: s.Accelerators}
	var err error
	if spec.Blocked, err = ParseCPUs(s.Blocked); err != nil {
		return fmt.Errorf("stored topology: %w", err)
	}
	for _, so := range s.Objects {
		o, err := so.object()
		if err != nil {
			return fmt.Errorf("stored topology: %w", err)
		}
		spec.Objects = append(spec.Objects, o)
	}
	for _, c := range s.Classes {
		cpus, err := ParseCPUs(c.CPUs)
		if err != nil {
			return fmt.Errorf("stored topology: class %s: %w", c.Name, err)
		}
		spec.Classes = append(spec.Classes, CPUClass{c.Name, cpus, c.Efficiency})
	}
	built, err := Build(spec)
	if err != nil {
		return fmt.Errorf("stored topology: %w", err)
	}
	*t = *built
	return nil
}

func (so *storedObject) object() (Object, error) {
	kind, err := ParseKind(so.Type)
	if err != nil {
		return Object{}, err
	}
	cpus, err := ParseCPUs(so.CPUs)
	if err != nil {
		return Object{}, fmt.Errorf("%s: %w", strings.ToLower(so.Type), err)
	}
	o := Object{
		Kind: kind, OS: -1, CPUs: cpus, Size: so.Size, Line: so.Line, Ways: so.Ways,
		Model: so.Model, Memory: so.Memory, Tier: so.Tier, Bandwidth: so.Bandwidth, Delay: so.Delay, Instruction: so.Instruction,
	}
	if so.OS != nil {
		o.OS = *so.OS
	}
	return o, nil
}
