package hw

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
)

// The versions of the stored form. Version 1 lists the objects of a machine by kind
// and CPU list; Build makes the tree again when it is read. Version 2 is a cluster:
// machines in that form, and for each host which of them it is.
const (
	storeVersion   = 1
	clusterVersion = 2
)

// storedCluster is what internal/data/run writes of several hosts.
type storedCluster struct {
	Version  int              `json:"version"`
	Hosts    []storedHost     `json:"hosts"`
	Machines []storedTopology `json:"machines"`
}

type storedHost struct {
	Name    string `json:"name"`
	Machine int    `json:"machine"` // in Machines
}

type storedTopology struct {
	Version   int            `json:"version"`
	Name      string         `json:"name,omitempty"`
	Source    string         `json:"source,omitempty"`
	Objects   []storedObject `json:"objects"`
	Distances *Distances     `json:"distances,omitempty"`
	Classes   []storedClass  `json:"classes,omitempty"`
	Blocked   string         `json:"blocked,omitempty"`
	Warnings  []string       `json:"warnings,omitempty"`
	Page      int            `json:"page,omitempty"`

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
	if t.hosts != nil {
		return json.Marshal(t.storedCluster())
	}
	return json.Marshal(t.stored())
}

func (t *Topology) stored() storedTopology {
	s := storedTopology{
		Version: storeVersion, Name: t.spec.Name, Source: t.spec.Source, Distances: t.spec.Distances,
		Blocked: t.spec.Blocked.String(), Warnings: t.spec.Warnings, Accelerators: t.spec.Accelerators, Page: t.spec.Page,
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
	return s
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Topology) UnmarshalJSON(data []byte) error {
	var s storedTopology
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("stored topology: %w", err)
	}
	var built *Topology
	var err error
	if s.Version == clusterVersion {
		var c storedCluster
		if err := json.Unmarshal(data, &c); err != nil {
			return fmt.Errorf("stored topology: %w", err)
		}
		built, err = c.build()
	} else {
		built, err = s.build()
	}
	if err != nil {
		return fmt.Errorf("stored topology: %w", err)
	}
	*t = *built
	return nil
}

// build makes the tree of a machine.
func (s *storedTopology) build() (*Topology, error) {
	if s.Version != storeVersion {
		return nil, fmt.Errorf("it has version %d; this isobath reads versions up to %d", s.Version, clusterVersion)
	}
	spec := Spec{Name: s.Name, Source: s.Source, Distances: s.Distances, Warnings: s.Warnings, Accelerators: s.Accelerators, Page: s.Page}
	var err error
	if spec.Blocked, err = ParseCPUs(s.Blocked); err != nil {
		return nil, err
	}
	for _, so := range s.Objects {
		o, err := so.object()
		if err != nil {
			return nil, err
		}
		spec.Objects = append(spec.Objects, o)
	}
	for _, c := range s.Classes {
		cpus, err := ParseCPUs(c.CPUs)
		if err != nil {
			return nil, fmt.Errorf("class %s: %w", c.Name, err)
		}
		spec.Classes = append(spec.Classes, CPUClass{c.Name, cpus, c.Efficiency})
	}
	return Build(spec)
}

func (t *Topology) storedCluster() storedCluster {
	s := storedCluster{Version: clusterVersion}
	at := map[*Topology]int{}
	for _, h := range t.hosts {
		k, known := at[h.Machine]
		if !known {
			k = len(s.Machines)
			at[h.Machine] = k
			s.Machines = append(s.Machines, h.Machine.stored())
		}
		s.Hosts = append(s.Hosts, storedHost{h.Name, k})
	}
	return s
}

// build makes the tree of a cluster.
func (s *storedCluster) build() (*Topology, error) {
	machines := make([]*Topology, len(s.Machines))
	for i := range s.Machines {
		var err error
		if machines[i], err = s.Machines[i].build(); err != nil {
			return nil, fmt.Errorf("machine %d: %w", i, err)
		}
	}
	var hosts []NamedMachine
	for _, h := range s.Hosts {
		if h.Machine < 0 || h.Machine >= len(machines) {
			return nil, fmt.Errorf("host %s is machine %d of %d", term.ClipEnd(h.Name, 41), h.Machine, len(machines))
		}
		hosts = append(hosts, NamedMachine{h.Name, machines[h.Machine]})
	}
	return NewCluster(hosts)
}

func (so *storedObject) object() (Object, error) {
	kind, err := ParseKind(so.Type)
	if err != nil {
		return Object{}, err
	}
	if kind == Cluster || kind == Host {
		return Object{}, fmt.Errorf("a %v is no part of a machine", kind)
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
