package whip

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/live"
)

// Handler is what the open internet reaches. RFC 9725 is in endpoint.go and resource.go.
//
//	GET                /whip-info             {"stun": [], "turn": [], "live": false}
//	GET                /whip-account          {"name": "", "show": ""}: whose key it is
//	OPTIONS POST       /whip                  a new session
//	OPTIONS PATCH DELETE  /whip/{session}     the session
//	POST               /whip/{session}/state  {"muted": true}
//	GET                /whip/{session}/facts  Server-Sent Events
//	GET                /livez
//	anything else                             Options.Pages
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/livez", s.livez)
	mux.HandleFunc("/whip-info", s.crossOrigin("GET, HEAD", s.info))
	mux.HandleFunc("/whip-account", s.crossOrigin("GET", s.account))
	mux.HandleFunc("/whip", s.crossOrigin("POST", s.endpoint))
	mux.HandleFunc("/whip/{session}", s.crossOrigin("PATCH, DELETE", s.resource))
	mux.HandleFunc("/whip/{session}/state", s.crossOrigin("POST", s.microphone))
	mux.HandleFunc("/whip/{session}/facts", s.crossOrigin("GET", s.facts))
	if s.opt.Pages != nil {
		mux.Handle("/", s.opt.Pages)
	}
	return mux
}

func (s *Server) livez(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	running := s.running
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if !running {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// info is exactly what the mission asks for.
func (s *Server) info(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		notAllowed(w, "GET, HEAD, OPTIONS")
		return
	}
	stun, turn := s.iceServers(r)
	if stun == nil {
		stun = []string{}
	}
	if turn == nil {
		turn = []Turn{}
	}
	w.Header().Set("Cache-Control", "no-store")
	answer(w, http.StatusOK, struct {
		STUN []string `json:"stun"`
		TURN []Turn   `json:"turn"`
		Live bool     `json:"live"`
	}{stun, turn, s.live()})
}

// crossOrigin answers OPTIONS and adds what pages of other origins need (Fetch, CORS).
// Without the headers their browsers neither send the request nor show its answer.
func (s *Server) crossOrigin(methods string, serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Add("Vary", "Origin")
		if origin := r.Header.Get("Origin"); origin != "" && s.welcome(origin) {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", "Location, ETag, Link, Accept-Patch, Retry-After, WWW-Authenticate")
			if r.Method == http.MethodOptions {
				h.Set("Access-Control-Allow-Methods", methods)
				h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match")
				h.Set("Access-Control-Max-Age", "86400")
			}
		}
		serve(w, r)
	}
}

func (s *Server) welcome(origin string) bool {
	return slices.Contains(s.opt.Origins, "*") || slices.Contains(s.opt.Origins, origin)
}

// problem is a refusal (RFC 9457). Code and RetryAt are the control plane's, for the
// page: unknown, revoked, early, late or limited, and epoch milliseconds.
type problem struct {
	Title   string `json:"title"`
	Status  int    `json:"status"`
	Detail  string `json:"detail,omitempty"`
	Code    string `json:"code,omitempty"`
	RetryAt int64  `json:"retryAt,omitempty"`
}

func refuse(w http.ResponseWriter, status int, p problem) {
	p.Title, p.Status = http.StatusText(status), status
	if (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests) && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "5")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(p) // the client may have left
}

func notAllowed(w http.ResponseWriter, allow string) {
	w.Header().Set("Allow", allow)
	refuse(w, http.StatusMethodNotAllowed, problem{Detail: "allowed here: " + allow})
}

// unauthorized asks for a bearer token (RFC 6750, section 3).
func unauthorized(w http.ResponseWriter, given bool, p problem) {
	challenge := `Bearer realm="whip"`
	if given {
		challenge += `, error="invalid_token"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	refuse(w, http.StatusUnauthorized, p)
}

// bearer is the request's token; empty where there is none.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func isType(r *http.Request, want string) bool {
	got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && got == want
}

func retryAfter(w http.ResponseWriter, d time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int((d+time.Second-1)/time.Second))))
}

// links names the ICE servers (RFC 9725, section 4.6), one header for each address.
func (s *Server) links(h http.Header, r *http.Request) {
	stun, turn := s.iceServers(r)
	for _, url := range stun {
		h.Add("Link", fmt.Sprintf(`<%s>; rel="ice-server"`, url))
	}
	for _, t := range turn {
		for _, url := range t.URLs {
			h.Add("Link", fmt.Sprintf(`<%s>; rel="ice-server"; username=%s; credential=%s; credential-type="password"`, url, quoted(t.Username), quoted(t.Credential)))
		}
	}
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// mostWords bounds a title and a name, in letters.
const mostWords = 120

// words cleans what a publisher's page says: what is hidden parts two words.
func words(s string) string {
	s = live.Line(strings.Map(func(r rune) rune {
		if live.Hidden(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " ")))
	if r := []rune(s); len(r) > mostWords {
		s = string(r[:mostWords])
	}
	return s
}
