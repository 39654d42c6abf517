package icecast

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"

	"github.com/athir-radio/athir/internal/kit/secret"
)

// Sources answers the server's question whether a source may send (Options.Auth): Icecast
// knows one password at a time, and while that is replaced two hold. It asks by a form:
//
//	action=stream_auth&mount=/guest&ip=192.0.2.1&user=source&pass=SECRET[&admin=1]
//
// and lets the source in where the answer has the header icecast-auth-user: 1.
type Sources struct {
	// Valid are the source passwords that hold now.
	Valid func() []string
	// Engine is the password of the playout engine alone, for Mount from this machine. The
	// engine is given it at its start and goes on for weeks.
	Engine func() string
	Mount  string // "main"
}

// mostForm bounds a question, in bytes.
const mostForm = 16 << 10

// ServeHTTP implements http.Handler.
func (s Sources) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "cannot read the form", http.StatusBadRequest)
		return
	}
	f := r.PostForm
	if f.Get("user") == "source" && (secret.Among(f.Get("pass"), s.Valid()) || s.engine(f.Get("mount"), f.Get("ip"), f.Get("pass"))) {
		w.Header().Set("icecast-auth-user", "1")
		return
	}
	w.Header().Set("icecast-auth-message", "the source password is another")
}

func (s Sources) engine(mount, from, password string) bool {
	ip := net.ParseIP(from)
	return mount == "/"+s.Mount && ip != nil && ip.IsLoopback() && secret.Among(password, []string{s.Engine()})
}

// Asks reports whether the configuration that is in place has the server ask.
func Asks(o Options) bool {
	for _, path := range []string{o.config(), o.openConfig()} {
		if text, err := os.ReadFile(path); err == nil && o.Auth != "" && bytes.Contains(text, []byte(o.Auth)) { //nolint:gosec // our own
			return true
		}
	}
	return false
}

// Reconfigure has the server that runs go by new options: those that it reads again at
// SIGHUP, passwords and who is asked among them. Its listeners and sources stay.
func Reconfigure(ctx context.Context, o Options) error {
	before := map[string][]byte{}
	for _, path := range []string{o.config(), o.openConfig()} {
		before[path], _ = os.ReadFile(path) //nolint:gosec // our own; it need not be there
	}
	spec, err := Prepare(ctx, o)
	if err != nil {
		return err
	}
	path := spec.Args[1]
	after, err := os.ReadFile(path) //nolint:gosec // our own
	if err != nil {
		return fmt.Errorf("read Icecast configuration: %w", err)
	}
	if spec.Note != "" {
		return errors.New(spec.Note)
	}
	if bytes.Equal(before[path], after) {
		return nil
	}
	for _, pid := range Find(o) {
		if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
			return fmt.Errorf("have Icecast read its configuration: %w", err)
		}
	}
	return nil
}
