package relay

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/proc"
)

// rtmpModule is where Debian's libnginx-mod-rtmp puts it.
const rtmpModule = "/usr/lib/nginx/modules/ngx_rtmp_module.so"

// RTMP describes the nginx that takes encoders in (rtmp://HOST:19350/live), behind a
// Door.
type RTMP struct {
	// Address is where the Door connects, host:port on loopback. Not a Unix socket:
	// nginx-rtmp asks no hook about who comes by one.
	Address string
	// PlayAddress is where this machine plays what is published, host:port on loopback;
	// see PullURL. 127.0.0.2 at the port of Address when empty.
	PlayAddress string
	Dir         string // for its configuration and temporary files
	Runtime     string // for its pid file; see runtimeDir when empty
	HookAddress string // the relay's; see Options
	StatAddress string // likewise
	Module      string // the RTMP module; Debian's when empty
}

// Prepare writes the configuration, clears what a killed nginx left behind and
// returns the program to run. Call it before every start: nginx cannot bind a
// Unix socket whose file is still there.
func (r RTMP) Prepare() (proc.Spec, error) {
	if r.Module == "" {
		r.Module = rtmpModule
	}
	if _, err := os.Stat(r.Module); errors.Is(err, os.ErrNotExist) {
		return proc.Spec{}, &proc.MissingError{Program: "nginx"}
	}
	for _, address := range []string{"tcp:" + r.Address, "tcp:" + r.PlayAt(), r.HookAddress, r.StatAddress} {
		if _, _, err := splitAddress(address); err != nil {
			return proc.Spec{}, fmt.Errorf("configure RTMP ingest: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Join(r.Dir, "nginx-temp"), 0o700); err != nil {
		return proc.Spec{}, fmt.Errorf("make nginx directory: %w", err)
	}
	if network, where, _ := splitAddress(r.StatAddress); network == "unix" {
		if err := removeStaleSocket(where); err != nil {
			return proc.Spec{}, fmt.Errorf("remove old nginx socket: %w", err)
		}
	}
	name := filepath.Join(r.Dir, "nginx.conf")
	stale, err := file.Refresh(name, r.Config(), 0o600)
	if err != nil {
		return proc.Spec{}, fmt.Errorf("write nginx configuration: %w", err)
	}
	return proc.Spec{
		Name: "nginx", Note: staleNote(stale, r.Dir), Path: "nginx", Dir: r.workDir(),
		// -e: Debian's nginx otherwise opens /var/log/nginx before it reads
		// its configuration, which an ordinary user may not.
		Args: []string{"-p", r.Dir, "-c", name, "-e", "stderr"},
	}, nil
}

// staleNote says why a program starts with an older configuration; empty where it does not.
func staleNote(err error, dir string) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("cannot write the configuration: %v: free some space on the disk that holds %s", err, dir)
}

// Config is nginx's configuration.
func (r RTMP) Config() []byte {
	hook := r.hookURL()
	temp := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temp += fmt.Sprintf("  %s_temp_path %s;\n", kind, quote(filepath.Join(r.Dir, "nginx-temp", kind)))
	}
	stat := quote(strings.TrimPrefix(r.StatAddress, "tcp:")) // nginx too says unix:PATH
	return fmt.Appendf(nil, `# Written by athir before every start; changes are lost.
load_module %s;
# One process in the foreground: nothing is left behind however it ends.
daemon off;
master_process off;
pid %s;
# warn: at info nginx logs the stream key with the password in it.
error_log stderr warn;
events { worker_connections 512; }
rtmp {
  access_log off;
  server {
    # The door says whose connection it is.
    listen %s proxy_protocol;
    # Players on this machine. The relay is asked here too about who publishes.
    listen %s;
    ping 15s;
    ping_timeout 10s;
    max_message 1M;
    application %s {
      live on;
      # An encoder that went silent frees its name for its own reconnect.
      drop_idle_publisher 10s;
      # Only this machine plays what was published; listeners get HLS.
      allow play 127.0.0.1;
      deny play all;
      # The relay says who may publish.
      on_publish %s;
      on_publish_done %s;
      notify_method post;
    }
  }
}
http {
  access_log off;
%s  server {
    listen %s;
    location / { rtmp_stat all; }
    # Here the relay sends encoders away.
    location /control { rtmp_control all; }
  }
}
`, quote(r.Module), quote(r.pidFile()), r.Address, r.PlayAt(), rtmpApp,
		hook+publishHook, hook+doneHook, temp, stat)
}

// PullURL is where this machine plays the stream that an encoder publishes as name. At
// Address nginx waits for the door's words and resets a player, and the door may be bound
// to an address of the network, from which playing is denied.
func (r RTMP) PullURL(name string) string {
	return "rtmp://" + r.PlayAt() + "/" + rtmpApp + "/" + name
}

// PlayAt is the address of PullURL, host:port.
func (r RTMP) PlayAt() string {
	if r.PlayAddress != "" {
		return r.PlayAddress
	}
	_, port, _ := net.SplitHostPort(r.Address)
	return net.JoinHostPort("127.0.0.2", port)
}

// pidFile is where nginx writes its process id. It does not start where it cannot, as on a
// full disk, so that is no place on the disk of the data. Nothing reads it.
func (r RTMP) pidFile() string {
	dir := cmp.Or(r.Runtime, runtimeDir(os.Geteuid(), os.Getenv, writable))
	if dir == "" {
		return filepath.Join(r.Dir, "nginx.pid")
	}
	sum := sha256.Sum256([]byte(r.Dir)) // another station of this machine has its own
	return filepath.Join(dir, "athir-"+hex.EncodeToString(sum[:6])+"-nginx.pid")
}

// runtimeDir is a folder in memory that no other user may write to: the one that systemd
// made for the service or for who is logged in, or /run for root. Empty: there is none.
func runtimeDir(user int, env func(string) string, writable func(dir string) bool) string {
	service, _, _ := strings.Cut(env("RUNTIME_DIRECTORY"), ":")
	own := env("XDG_RUNTIME_DIR")
	if user == 0 {
		own = "/run"
	}
	for _, dir := range []string{service, own} {
		if dir != "" && writable(dir) {
			return dir
		}
	}
	return ""
}

func writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// workDir is where nginx runs: beside the hook's socket.
func (r RTMP) workDir() string {
	if network, where, _ := splitAddress(r.HookAddress); network == "unix" {
		return filepath.Dir(where)
	}
	return r.Dir
}

// hookURL is the relay's address in nginx's spelling, http://unix:PATH:/uri for
// a socket. PATH is a plain name in nginx's working directory, because nginx
// sends it as the Host header, and Go's server answers 400 to a slash there.
func (r RTMP) hookURL() string {
	network, where, _ := splitAddress(r.HookAddress)
	if network == "unix" {
		return "http://unix:" + filepath.Base(where) + ":"
	}
	return "http://" + where
}

// quote writes a path as one nginx parameter.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
