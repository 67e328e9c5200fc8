package server

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/wholefile"
)

// TokenHeader carries the token. It is not a cookie: cookies ignore ports, so
// that two servers would overwrite each other's, and other local servers would
// receive it.
const TokenHeader = "X-Isobath-Token"

// policy allows nothing from elsewhere and no inline script. Inline styles are
// allowed because marks carry their colour and size as style attributes; they
// can fetch nothing from elsewhere either.
const policy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
	"object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard lets through only requests that were meant for this server, by someone
// who knows the token. On a login node every user can reach 127.0.0.1, and every
// page in the user's browser can send requests to it.
func (s *Server) guard(next http.Handler) http.Handler {
	// Browsers say where a request comes from; those that change something
	// must come from our own page. GET is guarded by token and host.
	next = s.crossOrigin().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if !s.knownHost(r.Host) {
			h.Set("Connection", "close") // it has no business here, and takes a place
			s.frame.Fail(w, r, frame.Refused(http.StatusForbidden, frame.Failure{
				Error: fmt.Sprintf("this server is not called %q", r.Host),
				Hint:  "open the address it printed, or start it with --allow-host NAME"}))
			return
		}
		if strings.HasPrefix(r.URL.Path, "/api/") && !s.knowsToken(r) {
			h.Set("Connection", "close")
			s.frame.Fail(w, r, frame.Refused(http.StatusUnauthorized, frame.Failure{
				Error: "the request carries no valid token",
				Hint:  "open the address that isobath printed in its terminal; it ends in #k=…"}))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) crossOrigin() *http.CrossOriginProtection {
	c := http.NewCrossOriginProtection()
	c.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.frame.Fail(w, r, frame.Refused(http.StatusForbidden, frame.Failure{
			Error: "the request comes from another site",
			Hint:  "only the page that this server shows may send it"}))
	}))
	return c
}

func (s *Server) knowsToken(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(r.Header.Get(TokenHeader)), []byte(s.opt.Token)) == 1
}

// knownHost reports whether the Host header names this server. A name that an
// attacker's DNS points at 127.0.0.1 does not.
func (s *Server) knownHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.ToLower(strings.Trim(name, "[]")), ".")
	switch name {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	return slices.ContainsFunc(s.opt.Hosts, func(h string) bool {
		h = strings.ToLower(h)
		return h == name || h == strings.ToLower(host)
	})
}

// TokenFile returns the token in a file, which only its owner may read. A file
// that does not exist is made with a new token.
func TokenFile(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		token := rand.Text()
		return token, wholefile.WriteBytes(path, wholefile.New|wholefile.Private, []byte(token+"\n"))
	}
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("token file %s can be read by others (mode %04o); run: chmod 600 %s", path, info.Mode().Perm(), path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < 16 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '&' || r == '#' }) {
		return "", fmt.Errorf("token file %s: want one word of at least 16 letters and digits", path)
	}
	return token, nil
}
