package onbackup

import (
	_ "embed"
	"html/template"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/web/problem"
)

//go:embed fault.html
var faultPage string

// patience is the Retry-After, in seconds, while the control plane waits.
const patience = "10"

// Handler answers at the control port while the control plane waits: /ping as ever, since
// the process is well; a page for people, and problem documents for programs. Paths of this
// machine are shown to itself and to who has the station key.
func (f *Fault) Handler() http.Handler {
	page := template.Must(template.New("fault").Parse(faultPage))
	mux := http.NewServeMux()
	mux.HandleFunc("/ping", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = io.WriteString(w, strconv.FormatInt(time.Now().UnixMilli(), 10))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", patience)
		w.Header().Set("Cache-Control", "no-store")
		en, ar := f.what()
		if r.URL.Path == "/healthz" || !strings.Contains(r.Header.Get("Accept"), "text/html") {
			problem.Answer(w, http.StatusServiceUnavailable, en+": the control plane waits until it is restored, the air goes on")
			return
		}
		command := f.publicCommand()
		if f.trusted(r) {
			command = f.command()
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = page.Execute(w, map[string]any{ // the client may have left
			"Name": f.cfg.Name, "En": en, "Ar": ar, "Newer": f.Newer, "Command": command, "Backup": f.Backup.File != "", "Made": f.Backup.Made.UTC().Format("2006-01-02 15:04 UTC"),
		})
	})
	return mux
}

// trusted reports a request of this machine itself, or with the station key.
func (f *Fault) trusted(r *http.Request) bool {
	if f.cfg.Secret(config.StationKey).Matches(r.Header.Get("X-Station-Key")) {
		return true
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != "" { // a proxy of this machine
		return false
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
