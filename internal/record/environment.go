package record

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/run"
)

// environmentNames are the variables that change how a program runs. No others
// are kept, whatever they begin with: an environment may hold secrets, as
// SLURM_JWT beside SLURM_JOB_ID.
var environmentNames = names(`
	OMP_NUM_THREADS OMP_PROC_BIND OMP_PLACES OMP_SCHEDULE OMP_DYNAMIC OMP_NESTED OMP_MAX_ACTIVE_LEVELS OMP_STACKSIZE OMP_WAIT_POLICY
	OMP_THREAD_LIMIT OMP_CANCELLATION OMP_DISPLAY_ENV OMP_TARGET_OFFLOAD OMP_ALLOCATOR OMP_NUM_TEAMS OMP_TEAMS_THREAD_LIMIT
	KMP_AFFINITY KMP_BLOCKTIME KMP_HW_SUBSET KMP_LIBRARY KMP_SETTINGS KMP_STACKSIZE GOMP_CPU_AFFINITY GOMP_SPINCOUNT GOMP_STACKSIZE
	MKL_NUM_THREADS MKL_DYNAMIC MKL_ENABLE_INSTRUCTIONS MKL_DEBUG_CPU_TYPE OPENBLAS_NUM_THREADS OPENBLAS_CORETYPE BLIS_NUM_THREADS
	SLURM_JOB_ID SLURM_JOBID SLURM_JOB_NUM_NODES SLURM_JOB_CPUS_PER_NODE SLURM_JOB_PARTITION SLURM_NNODES SLURM_NTASKS SLURM_NPROCS
	SLURM_NTASKS_PER_NODE SLURM_PROCID SLURM_LOCALID SLURM_NODEID SLURM_CPUS_PER_TASK SLURM_CPUS_ON_NODE SLURM_CPU_BIND
	SLURM_CPU_BIND_TYPE SLURM_CPU_BIND_LIST SLURM_CPU_FREQ_REQ SLURM_MEM_BIND SLURM_MEM_BIND_TYPE SLURM_MEM_PER_CPU SLURM_MEM_PER_NODE
	OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_LOCAL_SIZE OMPI_COMM_WORLD_NODE_RANK
	PMI_RANK PMI_SIZE PMIX_RANK MV2_COMM_WORLD_RANK MV2_COMM_WORLD_SIZE
	MALLOC_ARENA_MAX MALLOC_MMAP_THRESHOLD_ MALLOC_TRIM_THRESHOLD_ MALLOC_TOP_PAD_ MALLOC_PERTURB_ GLIBC_TUNABLES
	LD_PRELOAD LD_LIBRARY_PATH LD_BIND_NOW GOMAXPROCS GODEBUG GOGC GOMEMLIMIT CILK_NWORKERS TBB_NUM_THREADS
	HWLOC_XMLFILE HWLOC_COMPONENTS HWLOC_HIDE_ERRORS NUMA_BALANCING`)

func names(list string) map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		out[name] = true
	}
	return out
}

// environment returns the variables worth keeping.
func environment(all []string) map[string]string {
	out := map[string]string{}
	for _, e := range all {
		if name, value, ok := strings.Cut(e, "="); ok && environmentNames[name] {
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
