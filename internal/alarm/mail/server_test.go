package mail

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/textproto"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// server speaks SMTP as RFC 5321, 3207 and 4954 have it, with the faults that a test sets. It
// serves one connection at a time.
type server struct {
	net.Listener
	t     *testing.T
	tls   *tls.Config
	roots *x509.CertPool

	accepted chan struct{}

	mu sync.Mutex
	manner
	answers map[string][]string // of a verb, one for each time: instead of what it would say
	took    []string            // messages
	logins  []string
	said    []string // verbs, in order; with * over TLS
}

// manner is what the server offers.
type manner struct {
	implicit  bool // TLS from the start
	noTLS     bool // no STARTTLS
	noLogin   bool // no AUTH
	onlyLogin bool // LOGIN alone
}

// Answers that are none.
const (
	hangUp = "(hang up)"
	mute   = "(mute)"
)

func newServer(t *testing.T) *server {
	t.Helper()
	cert, key := testkit.Certificate(t, t.TempDir(), "mail.example.org")
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pem, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, tls: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, roots: x509.NewCertPool(), answers: map[string][]string{}, accepted: make(chan struct{}, 100)}
	s.roots.AppendCertsFromPEM(pem)
	if s.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := s.Accept()
			if err != nil {
				return
			}
			s.accepted <- struct{}{}
			s.serve(conn)
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = s.Close()
		served.Wait()
	})
	return s
}

// options lead to the server.
func (s *server) options() Options {
	return Options{Host: "127.0.0.1", Port: s.Addr().(*net.TCPAddr).Port, TLS: STARTTLS, User: "studio", Password: "open sesame", From: "athir@example.org", Name: "أثير", To: []string{"op@example.org"}, Roots: s.roots}
}

// set has the server answer a verb otherwise, once for each answer.
func (s *server) set(verb string, answers ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[verb] = answers
}

// left is how many answers wait for a verb.
func (s *server) left(verb string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.answers[verb])
}

// next is the answer that a test has set for a verb.
func (s *server) next(verb string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := s.answers[verb]; len(all) > 0 {
		s.answers[verb] = all[1:]
		return all[0]
	}
	return ""
}

func (s *server) serve(conn net.Conn) {
	encrypted := false
	s.mu.Lock()
	how := s.manner
	s.mu.Unlock()
	if how.implicit {
		over := tls.Server(conn, s.tls)
		if over.Handshake() != nil {
			return
		}
		conn, encrypted = over, true
	}
	c := textproto.NewConn(conn)
	// answer says what the test has set, or else usual; false: the connection is over.
	answer := func(verb, usual string) bool {
		switch set := s.next(verb); set {
		case "":
			return c.PrintfLine("%s", usual) == nil
		case hangUp:
			return false
		case mute:
			_, _ = bufio.NewReader(conn).ReadByte() // until the client gives up
			return false
		default:
			return c.PrintfLine("%s", set) == nil && !strings.HasPrefix(set, "421")
		}
	}
	if !answer("greeting", "220 mail.example.org ESMTP") {
		return
	}
	for {
		text, err := c.ReadLine()
		if err != nil {
			return
		}
		verb, argument, _ := strings.Cut(text, " ")
		verb = strings.ToUpper(verb)
		s.mu.Lock()
		if said := verb; encrypted {
			s.said = append(s.said, said+"*")
		} else {
			s.said = append(s.said, said)
		}
		s.mu.Unlock()
		ok := true
		switch verb {
		case "EHLO":
			lines := []string{"mail.example.org", "8BITMIME"}
			if !how.noTLS && !encrypted {
				lines = append(lines, "STARTTLS")
			}
			switch {
			case how.noLogin:
			case how.onlyLogin:
				lines = append(lines, "AUTH LOGIN")
			default:
				lines = append(lines, "AUTH PLAIN LOGIN")
			}
			for _, l := range lines {
				_ = c.PrintfLine("250-%s", l)
			}
			ok = answer(verb, "250 ENHANCEDSTATUSCODES")
		case "STARTTLS":
			if ok = answer(verb, "220 go ahead"); ok {
				over := tls.Server(conn, s.tls)
				if over.Handshake() != nil {
					return
				}
				conn, encrypted, c = over, true, textproto.NewConn(over)
			}
		case "AUTH":
			ok = s.login(c, argument, answer)
		case "DATA":
			if ok = answer(verb, "354 go on"); !ok {
				return
			}
			if s.next("body") == hangUp {
				_, _ = c.ReadLine()
				return
			}
			lines, err := c.ReadDotLines()
			if err != nil {
				return
			}
			if ok = answer("end of data", "250 2.0.0 queued"); ok {
				s.mu.Lock()
				s.took = append(s.took, strings.Join(lines, "\n"))
				s.mu.Unlock()
			}
		case "QUIT":
			answer(verb, "221 bye")
			return
		default:
			ok = answer(verb, "250 2.0.0 well")
		}
		if !ok {
			return
		}
	}
}

func (s *server) login(c *textproto.Conn, argument string, answer func(verb, usual string) bool) bool {
	ask := func(words string) string {
		_ = c.PrintfLine("334 %s", base64.StdEncoding.EncodeToString([]byte(words)))
		line, _ := c.ReadLine()
		text, _ := base64.StdEncoding.DecodeString(line)
		return string(text)
	}
	got := ""
	switch way, first, _ := strings.Cut(argument, " "); way {
	case "PLAIN":
		text, _ := base64.StdEncoding.DecodeString(first)
		got = fmt.Sprintf("PLAIN %q", text)
	case "LOGIN":
		got = fmt.Sprintf("LOGIN %q %q", ask("Username:"), ask("Password:"))
	}
	s.mu.Lock()
	s.logins = append(s.logins, got)
	s.mu.Unlock()
	return answer("AUTH", "235 2.7.0 welcome")
}
