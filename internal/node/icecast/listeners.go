package icecast

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/port"
	"github.com/athir-radio/athir/internal/station"
)

// Listener is one connection to the mount.
type Listener struct {
	ID        string `xml:"ID"` // grows with each connection, until the server restarts
	Address   string `xml:"IP"`
	UserAgent string `xml:"UserAgent"`
	Mount     string `xml:"-"`
}

// ownAgent begins the User-Agent of our own parts that read the stream: the
// bridge, the /stream fan-out and the dead-air guard.
const ownAgent = "athir-"

// Ours reports whether the connection is a part of this station. It must come
// from this machine: the same User-Agent from elsewhere is a listener's.
func (l Listener) Ours() bool {
	ip := net.ParseIP(l.Address)
	return strings.HasPrefix(l.UserAgent, ownAgent) && ip != nil && ip.IsLoopback()
}

// NamedAsOurs reports whether the User-Agent is a part's, whatever the address.
func (l Listener) NamedAsOurs() bool { return strings.HasPrefix(l.UserAgent, ownAgent) }

// maxListing bounds what is read of a listing, in bytes: some 40,000 listeners.
const maxListing = 16 << 20

// Listeners lists the connections to the mount, to its standby mount and to those beside it,
// our own parts included. The error wraps station.ErrUnavailable when the server does not
// listen on its port.
func Listeners(ctx context.Context, client *http.Client, o Options) ([]Listener, error) {
	if o.Host == "" && !port.Listening(o.Port) { // see ReadStatus
		return nil, fmt.Errorf("query Icecast: it does not listen on port %d: %w", o.Port, station.ErrUnavailable)
	}
	var all []Listener
	var first error
	known, answered := map[string]bool{}, false
	for _, mount := range o.mounts() {
		on, err := listeners(ctx, client, o, mount)
		if err != nil { // some of them may have no source
			if first == nil {
				first = err
			}
			continue
		}
		answered = true
		for _, l := range on {
			if !known[l.ID] { // a mount without a source may answer for its fallback
				known[l.ID] = true
				all = append(all, l)
			}
		}
	}
	if !answered {
		return nil, first
	}
	return all, nil
}

func listeners(ctx context.Context, client *http.Client, o Options, mount string) ([]Listener, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.address()+"/admin/listclients?mount="+url.QueryEscape(mount), nil)
	if err != nil {
		return nil, fmt.Errorf("list Icecast listeners: %w", err)
	}
	body, err := asAdmin(client, req, o, maxListing)
	if err != nil { // 400 for a mount without a source
		return nil, fmt.Errorf("list Icecast listeners of %s: %w", mount, err)
	}
	var list struct {
		Listeners []Listener `xml:"source>listener"`
	}
	if err := xml.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("parse Icecast listeners: %w", err)
	}
	for i := range list.Listeners {
		list.Listeners[i].Mount = mount
	}
	return list.Listeners, nil
}

const adminUser = "admin"

// asAdmin asks as the administrator. The server goes by the newest source password that its
// own machine has, which need not be this one's yet.
func asAdmin(client *http.Client, req *http.Request, o Options, limit int64) (body []byte, err error) {
	for _, password := range o.passwords() {
		req.SetBasicAuth(adminUser, admin(password))
		if body, err = ask(client, req, limit); !errors.Is(err, errLogin) {
			break
		}
	}
	return body, err
}

// admin is the administrator's password. It is derived from the source password,
// whose holder could do as much harm.
func admin(password string) string { return derived(password, "icecast administrator") }

// source is what the configuration has for sources: nobody's where the server asks.
func (o Options) source() string {
	if o.Auth != "" {
		return derived(o.current(), "icecast asks")
	}
	return o.current()
}

func derived(password, what string) string {
	h := hmac.New(sha256.New, []byte(password))
	h.Write([]byte(what))
	return hex.EncodeToString(h.Sum(nil))
}

// Who classifies a listener; a nil Atlas knows no country. An address that the server got from
// a proxy on its own machine is that machine's, of which nothing is known.
func (l Listener) Who(atlas *census.Atlas) census.Who {
	return census.Who{Device: census.DeviceOf(l.UserAgent), Country: atlas.Country(l.Address)}
}
