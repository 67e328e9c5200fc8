package run

import "encoding/json"

// clusterVersion is that of the stored topology of several hosts; internal/machine/hw
// makes one tree of it.
const clusterVersion = 2

// cluster is the machines of the hosts of a merged run. Hosts of one kind share a
// description, so that a thousand of them are stored as one and a list of names.
type cluster struct {
	Version  int               `json:"version"`
	Hosts    []clusterHost     `json:"hosts"`
	Machines []json.RawMessage `json:"machines"`

	kinds  map[string]int // hardware to its place in Machines
	hosts  map[string]int // name to its place in Machines; -1 without a topology
	unlike []bool         // of the runs, whose machine is not that of their host
}

type clusterHost struct {
	Name    string `json:"name"`
	Machine int    `json:"machine"`
}

// several reports whether there is more than one host.
func (c *cluster) several() bool { return len(c.hosts) > 1 }

// add adds the host of a run, or all hosts of one that was merged before.
func (c *cluster) add(i int, r *Run) {
	var before cluster
	if json.Unmarshal(r.Tree, &before) != nil || before.Version != clusterVersion {
		c.unlike[i] = !c.addHost(r.Origin.Host, r.Tree)
		return
	}
	for _, h := range before.Hosts {
		if h.Machine >= 0 && h.Machine < len(before.Machines) && !c.addHost(h.Name, before.Machines[h.Machine]) {
			c.unlike[i] = true
		}
	}
}

// addHost adds a host, and reports whether its machine is what is known of it.
func (c *cluster) addHost(name string, tree json.RawMessage) bool {
	if c.hosts == nil {
		c.hosts, c.kinds = map[string]int{}, map[string]int{}
	}
	kind := -1
	if tree != nil {
		key, known := string(hardware(tree)), false
		if kind, known = c.kinds[key]; !known {
			kind = len(c.Machines)
			c.kinds[key] = kind
			c.Machines = append(c.Machines, machine(tree))
		}
	}
	before, known := c.hosts[name]
	switch {
	case !known:
		c.hosts[name] = kind
	case before >= 0 || kind < 0:
		return before == kind
	default: // an earlier rank came without a topology
		c.hosts[name] = kind
	}
	if kind >= 0 {
		c.Hosts = append(c.Hosts, clusterHost{name, kind})
	}
	return true
}
