package record

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/run"
)

// environmentPrefixes begin the variables that change how a program runs. No
// others are kept: an environment may hold secrets.
var environmentPrefixes = []string{"OMP_", "KMP_", "GOMP_", "MKL_", "OPENBLAS_", "BLIS_", "SLURM_J", "SLURM_N", "SLURM_P", "SLURM_CPU", "SLURM_MEM", "OMPI_COMM_", "PMI_R", "PMI_S",
	"MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_BIND_NOW", "GOMAXPROCS", "GODEBUG", "GOGC", "GOMEMLIMIT", "CILK_", "TBB_", "HWLOC_", "NUMA"}

// environment returns the variables worth keeping.
func environment(all []string) map[string]string {
	out := map[string]string{}
	for _, e := range all {
		name, value, ok := strings.Cut(e, "=")
		if ok && slices.ContainsFunc(environmentPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			out[name] = value
		}
	}
	return out
}

// rankVariables say which rank of an MPI program we are, by who started it.
var rankVariables = []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"}

// Rank returns the rank that a launcher of MPI programs gave this process.
func Rank() (int, bool) {
	for _, name := range rankVariables {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n >= 0 {
			return n, true
		}
	}
	return 0, false
}

// system describes the machine.
func system() run.System {
	s := run.System{Arch: runtime.GOARCH, Kernel: firstLine("/proc/sys/kernel/osrelease"),
		Pages: chosen(firstLine("/sys/kernel/mm/transparent_hugepage/enabled")), Balancing: firstLine("/proc/sys/kernel/numa_balancing")}
	s.Processor = fieldOf("/proc/cpuinfo", "model name")
	kib, _, _ := strings.Cut(fieldOf("/proc/meminfo", "MemTotal"), " ")
	if n, err := strconv.ParseUint(kib, 10, 53); err == nil {
		s.Memory = n << 10
	}
	return s
}

func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// fieldOf returns the first value of "name : value" in a file.
func fieldOf(path, name string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// chosen returns the word in brackets of "always [madvise] never".
func chosen(text string) string {
	_, rest, ok := strings.Cut(text, "[")
	if !ok {
		return text
	}
	word, _, _ := strings.Cut(rest, "]")
	return word
}
