package registry

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// Addresses says which addresses may be registered. The desk judges again what a name
// leads to when it connects; here it is told early what can never work.
type Addresses struct {
	// Pipes is the node's folder of pipes; a pipe: address must be a file directly in it.
	// Empty: none may be registered.
	Pipes string
	// Elsewhere: the node is another machine, whose folder of pipes may be another; then a
	// pipe: address is any path of a *.pcm.
	Elsewhere bool
	// Own are the beginnings of addresses of the node's own ingest,
	// "rtmp://127.0.0.1:19350/", which may be registered though they are local.
	Own []string
	// Public says why a literal address may not be connected to; fetch.Public when nil.
	Public func(netip.Addr) error
}

const longestURL = 1024 // bytes

// The schemes that the desk opens, as errors name them.
const schemes = "rtmp://, http://, https://, " + live.SourceScheme + "/mount or " + live.PipeScheme + "/path"

var (
	mount    = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*){1,4}$`)
	pipeName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*$`)
)

// judge returns the normalized ingest, or every wrong field.
func (r *Registry) judge(f Fields) (ingest string, err error) {
	var all []error
	wrong := func(field, want string, args ...any) {
		all = append(all, fmt.Errorf("%s: "+want, append([]any{field}, args...)...))
	}
	if why := r.opt.Addresses.refusal(f.URL); why != "" {
		wrong("url", "%s", why)
	}
	for field, text := range map[string]string{"title": f.Title, "creator": f.Creator} {
		if utf8.RuneCountInString(text) > longestText {
			wrong(field, "must be at most %d characters", longestText)
		}
	}
	if f.Listeners < 0 || f.Listeners > mostListeners {
		wrong("listeners", "must be 0 to %d", mostListeners)
	}
	ingest, ok := normalized(f.URL, f.Ingest)
	if !ok {
		wrong("ingest", "must be rtmp, rtmp2, webrtc or pipe")
	}
	if len(all) > 0 {
		return "", fmt.Errorf("%w: %w", errors.Join(all...), station.ErrInvalid)
	}
	return ingest, nil
}

// normalized is the mission's rule: pipe for whatever comes through a pipe, rtmp for
// everything else.
func normalized(address, ingest string) (string, bool) {
	switch ingest {
	case "", "rtmp", "rtmp2", "webrtc", "pipe":
	default:
		return "", false
	}
	if ingest == "pipe" || live.Piped(address) {
		return "pipe", true
	}
	return "rtmp", true
}

// refusal says what is wrong with an address; empty when nothing is.
func (a Addresses) refusal(address string) string {
	switch {
	case address == "":
		return "must not be empty"
	case len(address) > longestURL:
		return fmt.Sprintf("must be at most %d bytes", longestURL)
	case !utf8.ValidString(address) || strings.ContainsFunc(address, func(c rune) bool { return c <= ' ' || live.Hidden(c) || c == 0x85 || c == 0xa0 }):
		return "must hold no spaces or control characters"
	}
	if path, ok := strings.CutPrefix(address, live.PipeScheme); ok {
		return a.pipe(path)
	}
	if m, ok := strings.CutPrefix(address, live.SourceScheme); ok {
		if !mount.MatchString(m) || len(m) > 100 {
			return "the mount must be like /sara: letters, digits, dots, dashes"
		}
		return ""
	}
	return a.network(address)
}

func (a Addresses) pipe(path string) string {
	if a.Pipes == "" {
		return "this station has no node with pipes"
	}
	if a.Elsewhere {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path || !pipeName.MatchString(filepath.Base(path)) || filepath.Ext(path) != ".pcm" {
			return "a pipe must be the absolute path of a .pcm on the node"
		}
		return ""
	}
	if filepath.Dir(path) != filepath.Clean(a.Pipes) || filepath.Clean(path) != path || !pipeName.MatchString(filepath.Base(path)) {
		return "a pipe must be a file directly in " + filepath.Clean(a.Pipes)
	}
	return ""
}

func (a Addresses) network(address string) string {
	u, err := url.Parse(address)
	if err != nil { // its text repeats the address, credentials and all
		return "is not a valid address: write it as https://host/path"
	}
	switch u.Scheme { // in lower case, as Parse returns it
	case "rtmp", "http", "https":
	default:
		return "must begin with " + schemes
	}
	if !strings.HasPrefix(address, u.Scheme+"://") {
		return "the scheme must be written in lower case, with // after it"
	}
	if u.Opaque != "" || u.Hostname() == "" {
		return "names no host: write it as " + u.Scheme + "://host/path"
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return "the port must be 1 to 65535"
		}
	}
	for _, own := range a.Own {
		if own != "" && strings.HasPrefix(address, own) {
			return ""
		}
	}
	return a.host(u.Hostname())
}

// host refuses what leads to a private network by its form alone.
func (a Addresses) host(host string) string {
	const local = "leads into this machine or a private network, where the station fetches nothing"
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		public := a.Public
		if public == nil {
			public = fetch.Public
		}
		if err := public(ip); err != nil {
			return fmt.Sprintf("leads where the station fetches nothing: %v", err)
		}
		return ""
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch {
	case host == "localhost" || last == "localhost":
		return local
	case last == "" || last[0] >= '0' && last[0] <= '9': // 2130706433, 0x7f.1: local to some resolvers
		return "its host is a number in an unusual form"
	}
	return ""
}

// shown is a stream for people: user, password and the values of a query, where tokens
// are, are left out of its address.
func shown(s live.Stream) live.Stream {
	s.URL = Shown(s.URL)
	return s
}

// Shown is an address without what may be secret in it.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that is not valid"
	}
	if u.User == nil && u.RawQuery == "" && u.Fragment == "" {
		return address
	}
	head, _, _ := strings.Cut(address, "?")
	head, _, _ = strings.Cut(head, "#")
	if u.User != nil {
		scheme, rest, _ := strings.Cut(head, "://")
		authority, path, _ := strings.Cut(rest, "/")
		head = scheme + "://" + authority[strings.LastIndexByte(authority, '@')+1:]
		if len(rest) > len(authority) {
			head += "/" + path
		}
	}
	if u.RawQuery != "" {
		head += "?…"
	}
	return head
}
