package config

import (
	"strings"
	"testing"
)

// What is wrong is named with its remedy, and no secret is repeated; what is right is taken,
// with the usual port of the encryption.
func TestAlarmsAreNamedWhereTheyAreWrong(t *testing.T) {
	const whole = "{server: smtp.example.org, user: u, password: secret-word, from: a@example.org, to: [b@example.org]}"
	for _, c := range []struct{ text, wrong string }{
		{"email: " + whole, ""},
		{"telegram: {token: \"12345:AAFsecret-word_xx\", chat: -1001234567890}", ""},
		{"telegram: {token: \"12345:AAFsecret-word_xx\", chat: \"@channel\"}", ""},
		{"discord: {url: \"https://discord.com/api/webhooks/1/secret-word\"}\n  heartbeat: {url: \"https://hc-ping.com/secret-word\"}", ""},
		{"per_hour: 2", "alarms.per_hour"},
		{"studio: radio.example/studio", "alarms.studio"},
		{"telegram: {token: \"12345:AAFsecret-word_xx\"}", "alarms.telegram: needs both"},
		{"telegram: {token: secret-word, chat: \"1\"}", "alarms.telegram.token: must be the token"},
		{"telegram: {token: \"12345:AAFsecret-word_xx\", chat: my chat}", "alarms.telegram.chat"},
		{"telegram: {token: \"-1001234567890\", chat: \"12345:AAFsecret-word_xx\"}", "alarms.telegram.chat"},
		{"discord: {url: secret-word}", "alarms.discord.url"},
		{"heartbeat: {url: \"ftp://x/secret-word\"}", "alarms.heartbeat.url"},
		{"email: {to: [b@example.org]}", "alarms.email.server: must not be empty"},
		{"email: {server: smtp.example.org, from: a@example.org}", "alarms.email.to: must be 1 to"},
		{"email: {server: smtp.example.org, from: Studio, to: [b@example.org]}", "alarms.email.from"},
		{"email: {server: \"smtp://u:secret-word@smtp.example.org\", from: a@example.org, to: [b@example.org]}", "alarms.email.server: \"smtp://…@smtp"},
		{"email: {server: \"smtp.example.org:smtp\", from: a@example.org, to: [b@example.org]}", "alarms.email.server"},
		{"email: {server: smtp.example.org, tls: ssl, from: a@example.org, to: [b@example.org]}", "alarms.email.tls: \"ssl\" is not known"},
		{"email: {server: smtp.example.org, tls: none, user: u, password: secret-word, from: a@example.org, to: [b@example.org]}", "unencrypted"},
		{"email: {server: smtp.example.org, password: secret-word, from: a@example.org, to: [b@example.org]}", "alarms.email.user: needs"},
	} {
		cfg, err := Parse([]byte("source_password: long-enough\nsync_token: x\nalarms:\n  "+c.text+"\n"), nil, nil)
		said := ""
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if strings.HasPrefix(line, "alarms") {
					said += line
				}
			}
		}
		if (c.wrong == "") != (said == "") || !strings.Contains(said, c.wrong) || strings.Contains(said, "secret-word") {
			t.Errorf("%s\nsaid %q, want %q", c.text, said, c.wrong)
		}
		if strings.Contains(c.text, "secret-word") && !strings.Contains(c.text, "chat: \"12345") && !strings.Contains(c.text, "smtp://") && cfg != nil && !strings.Contains(strings.Join(cfg.Secrets(), "\n"), "secret-word") {
			t.Errorf("%s: the log would show it", c.text)
		}
	}
	for _, c := range []struct {
		server, tls, host string
		port              int
	}{
		{"smtp.example.org", "starttls", "smtp.example.org", 587},
		{"smtp.example.org", "tls", "smtp.example.org", 465},
		{"localhost", "none", "localhost", 25},
		{"smtp.example.org:2525", "tls", "smtp.example.org", 2525},
		{"[2001:db8::1]:587", "starttls", "2001:db8::1", 587},
	} {
		if host, port, err := (Email{Server: c.server, TLS: c.tls}).HostPort(); err != nil || host != c.host || port != c.port {
			t.Errorf("%s %s: %s %d %v", c.server, c.tls, host, port, err)
		}
	}
}
