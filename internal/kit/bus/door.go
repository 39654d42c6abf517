package bus

import (
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Login is what a client shows.
type Login struct{ User, Password, Token string }

// Rights are what a client may do. Its own inbox (see Options.User) is always among them.
type Rights struct {
	// Publish and Subscribe are subjects; * is any word in them, > any rest.
	Publish, Subscribe []string
	// Answer lets it answer what it is asked, and nothing else beside Publish.
	Answer bool
}

// answerWithin is how long a client may take for an answer.
const answerWithin = time.Minute

// inboxes is where all answers go. Each user has inboxes of its own below it, so that no
// other hears them.
const inboxes = "_INBOX."

// inbox is where the answers to a user go. A user whose name is no word of a subject, as
// an operator's own server may have, shares the inboxes of all.
func inbox(user string) string {
	if user == "" || strings.ContainsAny(user, "*> \t") || strings.HasPrefix(user, ".") || strings.HasSuffix(user, ".") || strings.Contains(user, "..") {
		return strings.TrimSuffix(inboxes, ".")
	}
	return inboxes + user
}

// permissions are the rights as the server takes them.
func (r Rights) permissions(user string) *server.Permissions {
	out := &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: append([]string{}, r.Publish...)}, // nil would be everything
		Subscribe: &server.SubjectPermission{Allow: append(slices.Clone(r.Subscribe), inbox(user)+".>")},
	}
	if r.Answer {
		out.Response = &server.ResponsePermission{MaxMsgs: 1, Expires: answerWithin}
	}
	return out
}

// door lets clients in.
type door struct {
	opt   EmbedOptions
	wrong *voice
}

// Check implements server.Authentication.
func (d *door) Check(c server.ClientAuthentication) bool {
	shown := c.GetOpts()
	if d.opt.TLS != nil && c.GetTLSConnectionState() == nil && !ownAddress(c.RemoteAddress()) {
		d.wrong.say(slog.LevelWarn, "bus: a client of another machine does not encrypt and is refused: its bus.url must begin with tls://", "user", shown.Username, "address", c.RemoteAddress())
		return false
	}
	rights, ok := d.opt.Admit(Login{shown.Username, shown.Password, shown.Token})
	if !ok {
		return false // the server says so
	}
	c.RegisterUser(&server.User{Username: shown.Username, Permissions: rights.permissions(shown.Username)})
	return true
}

// ownAddress reports whether an address is this machine's.
func ownAddress(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() {
		return ok
	}
	all, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(all, func(a net.Addr) bool {
		own, ok := a.(*net.IPNet)
		return ok && own.IP.Equal(tcp.IP)
	})
}
