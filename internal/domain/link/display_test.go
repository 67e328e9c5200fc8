package link

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// display starts an X server without a screen for one test and returns the
// environment of its clients. Without a display this build of ParaView crashes even
// when it draws off screen.
//
// The server chooses its own number and says it when it listens (-displayfd).
// xvfb-run looks for a number first and takes it later: of two started at once one
// had no display, and its client aborted.
func display(t *testing.T) []string {
	t.Helper()
	said, says, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	server := exec.Command(test.Peer(t, "Xvfb", "xvfb"), "-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset")
	server.ExtraFiles = []*os.File{says}
	var complaints strings.Builder
	server.Stderr = &complaints
	err = server.Start()
	says.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Asked to end it takes its lock and its socket with it.
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})
	number, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb named no display: %v: %s", err, complaints.String())
	}
	return append(os.Environ(), "DISPLAY=:"+strings.TrimSpace(number), "PYTHONDONTWRITEBYTECODE=1")
}
