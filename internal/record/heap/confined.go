package heap

import (
	"os"
	"strings"
)

// filters is how many filters of system calls we run under, as in a container, and
// what we start too; "" is none. A program that begins under more is left alone.
func filters() string {
	status, _ := os.ReadFile("/proc/thread-self/status")           // there is none elsewhere than on Linux
	for _, key := range []string{"Seccomp_filters:", "Seccomp:"} { // the first since Linux 5.9
		for line := range strings.Lines(string(status)) {
			if n, ok := strings.CutPrefix(line, key); ok {
				if n = strings.TrimSpace(n); n == "0" {
					return ""
				}
				return n
			}
		}
	}
	return ""
}
