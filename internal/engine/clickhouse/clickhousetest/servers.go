// Package clickhousetest starts ClickHouse servers for tests: on loopback, each
// with a folder of its own, ended with the test.
package clickhousetest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/base/wholefile"
)

// clusterName is the name of the cluster that the servers form.
const clusterName = "shards"

// The users beside default, who may do everything. Reader may only read; Secret
// has a password; Stranger has one too, and rights on another database alone.
const (
	Reader   = "reader"
	Secret   = "secret"
	Stranger = "stranger"
	Password = "correct horse"
)

// Server is one of them.
type Server struct {
	folder    string
	tcp, http int
	program   string
	command   *exec.Cmd
	ended     *parallel.Task // of the process
}

// Start starts n servers that know each other as the shards of a cluster.
func Start(t testing.TB, n int) []*Server {
	t.Helper()
	program := test.Peer(t, "clickhouse-server", "clickhouse-server")
	var problem error
	for range 5 { // a port may be taken between its choice and its use
		servers, err := prepare(t, program, n)
		if err != nil {
			t.Fatal(err)
		}
		if problem = startAll(servers); problem == nil {
			t.Cleanup(func() { stopAll(servers) })
			return servers
		}
		stopAll(servers)
	}
	t.Fatal(problem)
	return nil
}

func startAll(servers []*Server) error {
	for _, s := range servers {
		if err := s.Start(); err != nil {
			return err
		}
	}
	return nil
}

func stopAll(servers []*Server) {
	for _, s := range servers {
		s.Kill()
	}
}

func prepare(t testing.TB, program string, n int) ([]*Server, error) {
	servers := make([]*Server, n)
	shards := ""
	for i := range servers {
		ports, err := freePorts(2)
		if err != nil {
			return nil, err
		}
		servers[i] = &Server{folder: t.TempDir(), tcp: ports[0], http: ports[1], program: program}
		shards += fmt.Sprintf("<shard><replica><host>127.0.0.1</host><port>%d</port></replica></shard>", ports[0])
	}
	for _, s := range servers {
		if err := s.configure(shards); err != nil {
			return nil, err
		}
	}
	return servers, nil
}

func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func (s *Server) configure(shards string) error {
	config := fmt.Sprintf(`<?xml version="1.0"?>
<yandex>
<logger><level>error</level><log>%[1]s/log</log><errorlog>%[1]s/errors</errorlog></logger>
<http_port>%[2]d</http_port><tcp_port>%[3]d</tcp_port><listen_host>127.0.0.1</listen_host>
<path>%[1]s/data/</path><tmp_path>%[1]s/tmp/</tmp_path>
<users_config>%[1]s/users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>67108864</mark_cache_size>
<remote_servers><%[4]s>%[5]s</%[4]s></remote_servers>
</yandex>
`, s.folder, s.http, s.tcp, clusterName, shards)
	user := func(name, password, profile, more string) string {
		return fmt.Sprintf("<%s><password>%s</password><networks><ip>127.0.0.1</ip></networks><profile>%s</profile><quota>default</quota>%s</%s>", name, password, profile, more, name)
	}
	users := `<?xml version="1.0"?>
<yandex><profiles><default></default><readonly><readonly>1</readonly></readonly></profiles><quotas><default></default></quotas>
<users>` + user("default", "", "default", "") + user(Reader, "", "readonly", "") + user(Secret, Password, "default", "") +
		user(Stranger, Password, "default", "<allow_databases><database>elsewhere</database></allow_databases>") + "</users></yandex>\n"
	if err := wholefile.WriteBytes(filepath.Join(s.folder, "config.xml"), 0o600, []byte(config)); err != nil {
		return err
	}
	return wholefile.WriteBytes(filepath.Join(s.folder, "users.xml"), 0o600, []byte(users))
}

// Start starts the server, again if it was killed, and returns when it answers.
func (s *Server) Start() error {
	s.command = exec.Command(s.program, "--config-file="+filepath.Join(s.folder, "config.xml"))
	s.command.Dir = s.folder
	s.command.SysProcAttr = endWithParent()
	if err := s.command.Start(); err != nil {
		return err
	}
	command := s.command
	s.ended = parallel.Start(context.Background(), func(context.Context) error { return command.Wait() })
	for {
		resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/ping", s.http))
		if err == nil {
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if strings.HasPrefix(string(text), "Ok") {
				return nil
			}
		}
		select {
		case <-s.ended.Done():
			said, _ := os.ReadFile(filepath.Join(s.folder, "errors"))
			return fmt.Errorf("clickhouse-server ended: %v\n%s", s.ended.Wait(), said)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Data is where the server keeps its tables.
func (s *Server) Data() string { return filepath.Join(s.folder, "data") }

// Kill ends the server at once, as a crash would.
func (s *Server) Kill() {
	if s.command == nil || s.command.Process == nil {
		return
	}
	s.command.Process.Kill()
	<-s.ended.Done()
}

// Host is the native port of the server, as its cluster names it.
func (s *Server) Host() string { return fmt.Sprintf("127.0.0.1:%d", s.tcp) }

// Address is the address of a run, or of all, on the server.
func (s *Server) Address(run string) string {
	return strings.TrimSuffix(fmt.Sprintf("clickhouse://%s/default/%s", s.Host(), run), "/") + "?cluster=" + clusterName
}

// Rest waits until the server has put together what was stored: it goes on with that
// after an import, and takes processors for it.
func (s *Server) Rest(ctx context.Context) error {
	for quiet := 0; quiet < 5; {
		text, err := s.Do(ctx, "SELECT count() FROM system.merges")
		if err != nil {
			return err
		}
		if quiet++; strings.TrimSpace(text) != "0" {
			quiet = 0
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil
}

// Do runs a statement there.
func (s *Server) Do(ctx context.Context, sql string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/", s.http), strings.NewReader(sql))
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, text)
	}
	return string(text), err
}
