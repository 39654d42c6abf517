package config

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"
)

// Push configures notifications to listeners' browsers.
type Push struct {
	Enabled bool   `koanf:"enabled"`
	Subject string `koanf:"subject"`
	// Services are hosts of push services beside those of the browsers.
	Services     []string `koanf:"services"`
	AllowPrivate bool     `koanf:"allow_private"`
}

// Webhooks configures messages to other programs.
type Webhooks struct {
	AllowPrivate bool `koanf:"allow_private"`
}

func (p Push) validate() (wrong []error) {
	for _, host := range p.Services {
		if u, err := url.Parse("https://" + host); err != nil || u.Host != host || u.Hostname() == "" {
			wrong = append(wrong, fmt.Errorf("push.services: %q must be a host name, as in push.example.org", host))
		}
	}
	return append(wrong, p.validateSubject()...)
}

func (p Push) validateSubject() []error {
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
	return []error{errors.New("push.subject: must be mailto: and your address, as in mailto:studio@example.org, or an https address")}
}
