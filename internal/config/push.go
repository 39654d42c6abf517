package config

import (
	"errors"
	"net/mail"
	"net/url"
	"strings"
)

// Push configures notifications to listeners' browsers.
type Push struct {
	Enabled      bool   `koanf:"enabled"`
	Subject      string `koanf:"subject"`
	AllowPrivate bool   `koanf:"allow_private"`
}

// Webhooks configures messages to other programs.
type Webhooks struct {
	AllowPrivate bool `koanf:"allow_private"`
}

func (p Push) validate() []error {
	if p.Subject == "" {
		return nil
	}
	if address, ok := strings.CutPrefix(p.Subject, "mailto:"); ok {
		if a, err := mail.ParseAddress(address); err == nil && a.Address == address {
			return nil
		}
	}
	if u, err := url.Parse(p.Subject); err == nil && u.Scheme == "https" && u.Host != "" && u.Hostname() != "localhost" {
		return nil
	}
	return []error{errors.New("push.subject: must be mailto: and an address of yours, or an https address, as in mailto:studio@example.org")}
}
