package webpush

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/athir-radio/athir/internal/station"
)

// Whoever subscribes names the host that the station then sends to, and nobody
// asks that host. The push services of the browsers expect it. Any other host is
// a stranger: a small push service of somebody's own, or one that is to be made
// to suffer by our messages. Strangers get few.
const (
	// strangersAtOnce and strangerEvery limit one address.
	strangersAtOnce = 5
	strangerEvery   = time.Hour
	// mostOfStranger is how many subscriptions one stranger's domain may have,
	// mostOfStrangers all of them: names lead where their owner wants.
	mostOfStranger  = 100
	mostOfStrangers = 1000
)

// services are the hosts of the browsers' push services, with all below them.
func services() []string {
	return []string{"fcm.googleapis.com", "push.services.mozilla.com", "notify.windows.com", "push.apple.com"}
}

// stranger is the domain under which somebody else than a push service of the
// browsers' is reached; empty for those.
func (p *Push) stranger(u *url.URL) string {
	host := u.Hostname()
	for _, known := range append(services(), p.opt.Services...) {
		known = strings.ToLower(known)
		if host == known || net.JoinHostPort(host, u.Port()) == known || strings.HasSuffix(host, "."+known) {
			return ""
		}
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}

// mayNameStranger limits who subscribes anew with a stranger.
func (p *Push) mayNameStranger(ctx context.Context, from Client, r *row) error {
	if r.stranger == "" || from.Staff {
		return nil
	}
	var known int
	err := p.opt.DB.Read().QueryRowContext(ctx, `SELECT count(*) FROM push_subscriptions WHERE hash = ?`, r.hash).Scan(&known)
	if err != nil || known > 0 {
		return err
	}
	return p.strangers.Take(from.Address)
}

// roomForStranger refuses what is too much for a stranger.
func roomForStranger(ctx context.Context, tx *sql.Tx, r *row) error {
	if r.stranger == "" {
		return nil
	}
	var of, all int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE stranger = ?), count(*) FROM push_subscriptions WHERE stranger <> '' AND hash <> ?`,
		r.stranger, r.hash).Scan(&of, &all)
	if err == nil && (of >= mostOfStranger || all >= mostOfStrangers) {
		err = fmt.Errorf("endpoint: no more subscriptions are accepted for this push service: ask the operator to add it to push.services: %w", station.ErrUnavailable)
	}
	return err
}

// unwelcome reports an answer by which a stranger says that it is no push
// service, or not ours: those of RFC 8030 that a service gives are others.
func unwelcome(status int) bool {
	return status >= 300 && status < 500 && status != http.StatusRequestEntityTooLarge && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout
}
