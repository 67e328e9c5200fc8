package hwloc

import (
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/formats/xmlwalk"
	"github.com/isobath/isobath/internal/machine/hw"
)

// device is a PCI device, or one without a bus, while it is read. The operating
// system and libraries may each have a name for it.
type device struct {
	about   hw.Accelerator
	names   []string
	compute bool // it is an accelerator
	depth   int  // of the elements inside
}

// computing are what libraries for accelerators call their backends.
var computing = map[string]bool{"CUDA": true, "NVML": true, "RSMI": true, "LevelZero": true, "OpenCL": true, "MIC": true, "VectorEngine": true}

// inDevice reads an element of a device or inside it.
func (v *visitor) inDevice(e *xmlwalk.Element) {
	typ := e.Attr("type")
	if e.Name == "object" && (typ == "PCIDev" || typ == "OSDev" && v.device == nil) {
		v.device = &device{about: hw.Accelerator{Bus: e.Attr("pci_busid")}}
	}
	d := v.device
	if d == nil {
		return
	}
	d.depth++
	switch {
	case e.Name == "object" && typ == "OSDev":
		d.names = append(d.names, e.Attr("name"))
		d.compute = d.compute || computing[e.Attr("subtype")]
	case e.Name == "info":
		d.info(e.Attr("name"), strings.TrimSpace(e.Attr("value")))
	}
}

// info reads what a library says about its device. Sizes are in KiB.
func (d *device) info(name, value string) {
	switch name {
	case "Backend", "CoProcType":
		d.compute = d.compute || computing[value]
	case "GPUModel":
		d.about.Model, d.compute = value, true
	case "CUDAGlobalMemorySize", "RSMIVRAMSize", "OpenCLGlobalMemorySize", "LevelZeroHBMSize":
		if n, err := strconv.ParseUint(value, 10, 54); err == nil {
			d.about.Memory = max(d.about.Memory, n<<10)
		}
	case "CUDAMultiProcessors", "OpenCLComputeUnits":
		if n, err := strconv.Atoi(value); err == nil && n > 0 {
			d.about.Cores = max(d.about.Cores, n)
		}
	}
}

// endDevice ends an element inside a device, and the device with its own.
func (v *visitor) endDevice() {
	d := v.device
	if d == nil {
		return
	}
	if d.depth--; d.depth > 0 {
		return
	}
	v.device = nil
	if !d.compute || len(v.spec.Accelerators) >= hw.MaxAccelerators {
		return
	}
	d.about.Name = strings.Join(d.names, " ")
	v.spec.Accelerators = append(v.spec.Accelerators, d.about)
}

// memoryAttribute reads how fast memory is from some CPUs; the best is kept.
func (v *visitor) memoryAttribute(e *xmlwalk.Element) {
	gp, err := strconv.ParseUint(e.Attr("target_obj_gp_index"), 10, 64)
	value, wrong := strconv.ParseUint(e.Attr("value"), 10, 63)
	node, ok := v.gp[gp]
	if err != nil || wrong != nil || !ok || value == 0 {
		return
	}
	values := v.attributes[node]
	if values == nil {
		values = map[string]uint64{}
		v.attributes[node] = values
	}
	old, seen := values[v.memattr]
	if nearer := strings.Contains(v.memattr, "Latency") && value < old || !strings.Contains(v.memattr, "Latency") && value > old; !seen || nearer {
		values[v.memattr] = value
	}
}

// measured gives memory nodes the bandwidth and latency that the file says.
func (v *visitor) measured() {
	for i := range v.spec.Objects {
		o := &v.spec.Objects[i]
		values := v.attributes[o.OS]
		if o.Kind != hw.NUMA || values == nil {
			continue
		}
		o.Bandwidth, o.Delay = max(values["Bandwidth"], values["ReadBandwidth"]), values["Latency"]
		if o.Delay == 0 {
			o.Delay = values["ReadLatency"]
		}
	}
}
