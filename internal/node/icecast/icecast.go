// Package icecast runs the streaming server: it writes Icecast's configuration,
// says how to start it, and reads its status. Who may listen, and how the
// stream is made, is decided elsewhere.
//
// It does not restart anything; see node/supervise.
package icecast

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/template"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/proc"
)

//go:embed icecast.xml.tmpl
var configTemplate string

// Program is the server's name among a node's programs.
const Program = "icecast"

// Grace is how long it may take to end.
const Grace = 2 * time.Second

// Options says how the server listens and what it serves.
type Options struct {
	// Dir holds the configuration: DATA/node.
	Dir string
	// Host is the server's address where it runs on another machine; empty: here.
	Host string
	// Bind is the address it listens on; every address when empty.
	Bind string
	Port int
	// Password is the source password.
	Password string
	// Valid are the source passwords that hold now, the newest first; Password alone when nil.
	Valid func() []string
	// Auth is where the server asks about each source, an address on this machine that
	// Sources serves; empty: it compares Password itself, and knows no other.
	Auth string
	// Mount is "main" when empty; without its slash.
	Mount string
	// MaxClients bounds the listeners of all mounts; 1000 when zero.
	MaxClients int
	// Beside are the mounts of the same sound beside the main one.
	Beside []Beside
	// Hostname is told to listeners in playlists; the loopback
	// address when empty.
	Hostname string
	// Station, Description and Genre are shown in the status page.
	Station, Description, Genre string
	// WebRoot and AdminRoot hold Icecast's own pages, which make
	// status-json.xsl work; Debian's when empty.
	WebRoot, AdminRoot string
	// RunAs is the user the server runs as where this process is root, which
	// Icecast refuses to be; "icecast2" or else "nobody" when empty.
	RunAs string
}

// Beside is a mount of the same sound in another format. It is named as the main one, with the
// format behind a dot.
type Beside struct {
	Format string // "mp3"
	Kbps   int
}

// Path of a mount beside the main one: "/main.mp3".
func (o Options) Path(b Beside) string { return o.mount() + "." + b.Format }

// mounts are all that listeners may be on.
func (o Options) mounts() []string {
	all := []string{o.mount(), o.StandbyMount()}
	for _, b := range o.Beside {
		all = append(all, o.Path(b))
	}
	return all
}

// config is the path of the configuration.
func (o Options) config() string { return filepath.Join(o.Dir, configName) }

const configName = "icecast.xml"

// openConfig is its path when the server's user cannot enter Dir:
// a data directory under /root, say.
func (o Options) openConfig() string {
	sum := sha256.Sum256([]byte(o.Dir))
	return filepath.Join(openRoot, "athir-"+hex.EncodeToString(sum[:6]), configName)
}

// Find lists the processes that serve this station, whoever started them.
func Find(o Options) []int {
	return append(proc.Find(program, o.config()), proc.Find(program, o.openConfig())...)
}

const program = "icecast2"

func (o Options) mount() string { return "/" + strings.TrimPrefix(cmp.Or(o.Mount, "main"), "/") }

// StandbyMount is the mount that Icecast moves listeners to while the station's
// own mount has no source.
func (o Options) StandbyMount() string { return o.mount() + "-standby" }

// address is where this machine reaches the server.
func (o Options) address() string {
	if o.Host != "" {
		return net.JoinHostPort(o.Host, strconv.Itoa(o.Port))
	}
	host := o.Bind
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(o.Port))
}

const (
	// slack is how many listeners the mount takes beyond those it is meant for: places for
	// our own parts as they connect again. Trim makes them free.
	slack = 64
	// spare is how many connections there may be beside the listeners: the sources, probes,
	// and visitors that have not said what they want. One costs the server some 4 KB, for
	// header-timeout at most.
	spare = 16_000
	// reserved are the files that the server has open for itself.
	reserved = 128
)

func (o Options) listeners() int { return cmp.Or(o.MaxClients, 1000) }

// clients is how many connections there may be. A server that runs out of files instead
// could not even refuse one.
func (o Options) clients() int {
	files := min(proc.HardFiles(), 1<<20) - reserved
	return max(o.listeners()+slack, min(o.listeners()+spare, int(files))) //nolint:gosec // a million at most
}

// Render returns the configuration. The administrator's password follows from the
// source password; see Listeners.
func Render(o Options) ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	t, err := template.New("icecast.xml").Funcs(template.FuncMap{"xml": escape}).Parse(configTemplate)
	if err != nil {
		return nil, fmt.Errorf("parse Icecast configuration: %w", err)
	}
	var out bytes.Buffer
	err = t.Execute(&out, map[string]any{
		"O": o, "Mount": o.mount(), "Standby": o.StandbyMount(), "Admin": admin(o.current()),
		"Beside": o.beside(), "Sources": sources + 2*len(o.Beside),
		"Source": o.source(), "Listeners": o.listeners() + slack, "Clients": o.clients(), "Hostname": cmp.Or(o.Hostname, "127.0.0.1"),
		"WebRoot": cmp.Or(o.WebRoot, "/usr/share/icecast2/web"), "AdminRoot": cmp.Or(o.AdminRoot, "/usr/share/icecast2/admin"),
	})
	if err != nil {
		return nil, fmt.Errorf("render Icecast configuration: %w", err)
	}
	return out.Bytes(), nil
}

// sources are the main one, one that is just being replaced, and the standby audio, twice over.
const sources = 4

// rendered is a mount beside the main one, as the configuration has it.
type rendered struct {
	Path         string
	Kbps         int
	Burst, Queue int // bytes
}

// beside bounds by time what is kept for listeners, as for the main mount: at 24 kbit/s its
// bytes would put every player 20 s behind.
func (o Options) beside() (out []rendered) {
	const burst, queue = 2500, 20_000 // ms
	for _, b := range o.Beside {
		out = append(out, rendered{o.Path(b), b.Kbps, b.Kbps * burst / 8, b.Kbps * queue / 8})
	}
	return out
}

// escape makes any bytes the text of an XML element. What XML cannot hold
// (control characters, invalid UTF-8) becomes U+FFFD.
func escape(s string) (string, error) {
	var b strings.Builder
	err := xml.EscapeText(&b, []byte(s))
	return b.String(), err
}

func (o Options) check() error {
	switch {
	case o.Dir == "":
		return errors.New("icecast option Dir is empty")
	case o.current() == "":
		return errors.New("icecast option Password is empty")
	case o.Port < 1 || o.Port > 65535:
		return fmt.Errorf("icecast option Port is not a port: %d", o.Port)
	}
	// Icecast compares these byte by byte: what XML cannot hold would be lost.
	for name, s := range map[string]string{"Password": o.current(), "Mount": o.Mount, "Bind": o.Bind} {
		kept, err := escape(s)
		if err != nil || strings.ContainsRune(kept, '\uFFFD') || strings.TrimSpace(s) != s {
			return fmt.Errorf("icecast option %s holds a character that cannot be written into its configuration", name)
		}
	}
	return nil
}

// passwords are the source passwords that hold, the newest first.
func (o Options) passwords() []string {
	if o.Valid != nil {
		return o.Valid()
	}
	return []string{o.Password}
}

func (o Options) current() string {
	if all := o.passwords(); len(all) > 0 {
		return all[0]
	}
	return ""
}

// Prepare writes the configuration, readable by the user the server runs as
// and nobody else, and says how to start it. What other stations of this
// machine left behind is removed.
func Prepare(_ context.Context, o Options) (proc.Spec, error) {
	config, err := Render(o)
	if err != nil {
		return proc.Spec{}, err
	}
	as, err := o.runAs()
	if err != nil {
		return proc.Spec{}, err
	}
	sweep(openRoot, time.Now())
	path := o.config()
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return proc.Spec{}, fmt.Errorf("make Icecast directory: %w", err)
	}
	if as != nil && !reachable(o.Dir, as) {
		path = o.openConfig()
		if err := os.MkdirAll(filepath.Dir(path), 0o711); err != nil { //nolint:gosec // the other user walks through it
			return proc.Spec{}, fmt.Errorf("make Icecast directory: %w", err)
		}
	}
	stale, err := file.Refresh(path, config, 0o600)
	if err == nil && as != nil {
		err = os.Lchown(path, int(as.Uid), int(as.Gid))
	}
	if err != nil {
		return proc.Spec{}, fmt.Errorf("write Icecast configuration: %w", err)
	}
	note := ""
	if stale != nil {
		note = fmt.Sprintf("cannot write the configuration: %v: free some space on the disk that holds %s", stale, filepath.Dir(path))
	}
	return proc.Spec{
		Name: "icecast", Note: note,
		Path: program,
		Args: []string{"-c", path},
		Dir:  "/",
		User: as,
		Nice: proc.Air, Files: uint64(o.clients() + reserved), //nolint:gosec // positive
		// Icecast takes seconds over a clean stop and there is nothing to save.
		Grace: Grace,
	}, nil
}

// reachable reports whether a user can enter dir.
func reachable(dir string, as *syscall.Credential) bool {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		sys, ok := info.Sys().(*syscall.Stat_t)
		mode := info.Mode().Perm()
		switch {
		case !ok:
			return false
		case sys.Uid == as.Uid && mode&0o100 != 0, sys.Gid == as.Gid && mode&0o010 != 0, mode&0o001 != 0:
		default:
			return false
		}
		if dir == "/" {
			return true
		}
	}
}

// runAs returns nil where this process is not root. Icecast's own changeowner
// cannot be used: it clears the signal that ends a child with its parent.
func (o Options) runAs() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is "as this process"
	}
	names := []string{"icecast2", "nobody"}
	if o.RunAs != "" {
		names = []string{o.RunAs}
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("run Icecast: it refuses to run as root, and there is no user %s: create one", strings.Join(names, " or "))
}
