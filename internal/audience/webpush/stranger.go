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

// A subscriber names the host that the station sends to, and the host is not asked.
// The browsers' push services expect that. Any other host is a stranger: somebody's
// own push service, or the victim of an attack that uses our messages. So the
// subscriptions at strangers are limited.
const (
	// strangersAtOnce and strangerEvery limit one address.
	strangersAtOnce = 5
	strangerEvery   = time.Hour
	// mostOfStranger bounds the subscriptions at one stranger's domain, and
	// mostOfStrangers those at all strangers, since many domains may lead to one host.
	mostOfStranger  = 100
	mostOfStrangers = 1000
)

// services returns the hosts of the browsers' push services; subdomains count too.
func services() []string {
	return []string{"fcm.googleapis.com", "push.services.mozilla.com", "notify.windows.com", "push.apple.com"}
}

// stranger returns the domain of an endpoint that is not at a known push service;
// empty for known ones.
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

// mayNameStranger limits new subscriptions at strangers by address.
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

// roomForStranger refuses a subscription beyond a stranger's limits.
func roomForStranger(ctx context.Context, tx *sql.Tx, r *row) error {
	if r.stranger == "" {
		return nil
	}
	var ofDomain, all int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE stranger = ?), count(*) FROM push_subscriptions WHERE stranger <> '' AND hash <> ?`,
		r.stranger, r.hash).Scan(&ofDomain, &all)
	if err == nil && (ofDomain >= mostOfStranger || all >= mostOfStrangers) {
		err = fmt.Errorf("endpoint: no more subscriptions are accepted for this push service: ask the operator to add it to push.services: %w", station.ErrUnavailable)
	}
	return err
}

// unwelcome reports whether a stranger's answer shows that it is no push service:
// RFC 8030 has other answers.
func unwelcome(status int) bool {
	return status >= 300 && status < 500 && status != http.StatusRequestEntityTooLarge && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout
}
