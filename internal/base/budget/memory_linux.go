package budget

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Default is half of the memory that this process may use.
func Default() int64 {
	total := int64(8 << 30)
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		total = int64(info.Totalram) * int64(info.Unit)
	}
	// In a container the limit of its group is what counts.
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			total = min(total, limit)
		}
	}
	return total / 2
}
