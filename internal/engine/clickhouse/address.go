package clickhouse

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
)

// scheme begins every address of a run that is kept in ClickHouse.
const scheme = "clickhouse://"

// The environment that says the password. It is never part of an address: those
// are seen in lists of processes, in histories and on pages.
const (
	passwordVariable     = "ISOBATH_CLICKHOUSE_PASSWORD"
	passwordFileVariable = "ISOBATH_CLICKHOUSE_PASSWORD_FILE"
)

// Address is where runs are kept:
// clickhouse://user@host:port/database/run?cluster=NAME&timeout=30s.
type Address struct {
	Host     string // with its port
	User     string
	Database string
	Run      string // empty if the address names no run
	Cluster  string // empty: one server
	// Timeout is how long one question may take.
	Timeout time.Duration
	// Secure is for servers that are reached by https.
	Secure bool
}

// IsAddress reports whether a text names something in ClickHouse.
func IsAddress(s string) bool { return strings.HasPrefix(s, scheme) }

// defaultTimeout is longer than a screen of any run should take.
const defaultTimeout = time.Minute

// word is what databases, clusters and runs may be called: it goes into SQL and
// file names as it is.
var word = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

// ParseAddress reads an address. Errors do not repeat it: it may hold a password
// that should not be there.
func ParseAddress(s string) (*Address, error) {
	u, err := url.Parse(s)
	if err != nil || !IsAddress(s) || u.Host == "" {
		return nil, fmt.Errorf("an engine is named as %suser@host:port/database/run, with ?cluster=NAME for several servers", scheme)
	}
	if _, ok := u.User.Password(); ok {
		return nil, fmt.Errorf("the address of an engine holds no password; set %s, or %s to a file that holds it", passwordVariable, passwordFileVariable)
	}
	a := &Address{Host: u.Host, User: u.User.Username(), Timeout: defaultTimeout}
	if u.Port() == "" {
		a.Host = net.JoinHostPort(u.Hostname(), "8123")
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if parts[0] == "" {
		parts[0] = "default"
	}
	if a.Database = parts[0]; len(parts) > 1 {
		a.Run = parts[1]
	}
	if len(parts) > 2 {
		return nil, fmt.Errorf("%s: want database/run", u.Path)
	}
	if err := a.options(u.Query()); err != nil {
		return nil, err
	}
	for what, name := range map[string]string{"database": a.Database, "run": a.Run, "cluster": a.Cluster} {
		if name != "" && !word.MatchString(name) {
			return nil, fmt.Errorf("%s %q: want letters, digits, '_', '-' and '.'", what, name)
		}
	}
	return a, nil
}

func (a *Address) options(given url.Values) error {
	for name, values := range given {
		switch value := values[0]; name {
		case "cluster":
			a.Cluster = value
		case "secure":
			a.Secure = value == "1" || value == "true"
		case "timeout":
			d, err := time.ParseDuration(value)
			if err != nil || d <= 0 {
				return fmt.Errorf("timeout %q: want a time such as 30s", value)
			}
			a.Timeout = d
		default:
			return fmt.Errorf("unknown option %q of an engine; want cluster, timeout or secure", name)
		}
	}
	return nil
}

// String is the address as it may be shown.
func (a *Address) String() string {
	u := url.URL{Scheme: "clickhouse", Host: a.Host, Path: "/" + a.Database}
	if a.User != "" {
		u.User = url.User(a.User)
	}
	if a.Run != "" {
		u.Path += "/" + a.Run
	}
	if a.Cluster != "" {
		u.RawQuery = "cluster=" + a.Cluster
	}
	return u.String()
}

// place is where runs are kept, without the name of one and without options.
func (a *Address) place() string {
	of := *a
	of.Run, of.Cluster = "", ""
	return of.String()
}

// password reads the password from the environment, or a file it names.
func password() (string, error) {
	if file := os.Getenv(passwordFileVariable); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("password of the engine: %w", err)
		}
		return strings.TrimRight(string(text), "\r\n"), nil
	}
	return os.Getenv(passwordVariable), nil
}
