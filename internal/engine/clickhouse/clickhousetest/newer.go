package clickhousetest

import (
	"bufio"
	"embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/base/wholefile"
)

//go:embed newer.mjs
var newer embed.FS

// newerVariable names the folder of a current release as a library: chDB for Node.js,
// in its node_modules.
const newerVariable = "ISOBATH_CHDB"

// StartNewer starts one server that is a current release, and returns its address.
// Debian has none, and the library is a download of hundreds of megabytes.
func StartNewer(t testing.TB) string {
	t.Helper()
	library := os.Getenv(newerVariable)
	if library == "" {
		t.Skip(newerVariable + " names no chDB: no release of ClickHouse but Debian's is asked; see make clickhouse-newer")
	}
	node := test.Peer(t, "node", "nodejs")
	dir := t.TempDir()
	text, err := newer.ReadFile("newer.mjs")
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "newer.mjs")
	if err := wholefile.WriteBytes(script, 0o600, text); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, script, library, filepath.Join(dir, "data"))
	cmd.Stderr, cmd.SysProcAttr = os.Stderr, endWithParent()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	address, version, ok := strings.Cut(strings.TrimSpace(line), " ")
	if err != nil || !ok {
		t.Fatalf("no current release: %q, %v", line, err)
	}
	t.Logf("ClickHouse %s", version)
	return address
}
