package config

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Alarms configures who is told when something is wrong at the station.
type Alarms struct {
	Studio       string    `koanf:"studio"`
	PerHour      int       `koanf:"per_hour"`
	AllowPrivate bool      `koanf:"allow_private"`
	Email        Email     `koanf:"email"`
	Telegram     Telegram  `koanf:"telegram"`
	Discord      Discord   `koanf:"discord"`
	Heartbeat    Heartbeat `koanf:"heartbeat"`
}

// Email is a mail server, and who gets mail by it.
type Email struct {
	Server   string   `koanf:"server"`
	TLS      string   `koanf:"tls"`
	User     string   `koanf:"user"`
	Password string   `koanf:"password"`
	From     string   `koanf:"from"`
	To       []string `koanf:"to"`
}

// Telegram is a bot, and the chat that it writes to.
type Telegram struct {
	Token  string `koanf:"token"`
	Chat   string `koanf:"chat"`
	Server string `koanf:"server"`
}

// Discord is a webhook of a channel.
type Discord struct {
	URL string `koanf:"url"`
}

// Heartbeat is an address that is asked for while all is well.
type Heartbeat struct {
	URL string `koanf:"url"`
}

// The ways of alarms.email.tls.
const (
	mailSTARTTLS = "starttls"
	mailTLS      = "tls"
	mailPlain    = "none"
)

// mostMail bounds the addresses that get mail.
const mostMail = 20

var (
	botToken = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]{10,100}$`)
	chatName = regexp.MustCompile(`^(-?[0-9]{1,20}|@[A-Za-z0-9_]{4,64})$`)
)

// Secrets are what stands in the settings and must not stand in a log.
func (c *Config) Secrets() []string {
	a, now := c.Alarms, c.inForce()
	all := []string{now.StationKey, now.SyncToken, c.SocialAdminKey, now.SourcePassword, now.TurnSecret, a.Email.Password, a.Telegram.Token, a.Discord.URL, a.Heartbeat.URL}
	for _, r := range now.Rotations() { // also those that hold no more
		all = append(all, r.Old)
	}
	return append(all, c.Bus.secrets()...)
}

// HostPort is the mail server; its port is the usual one of the encryption where none is
// written.
func (e Email) HostPort() (host string, port int, err error) {
	host, text, err := net.SplitHostPort(e.Server)
	if err != nil {
		host, text = strings.Trim(e.Server, "[]"), map[string]string{mailSTARTTLS: "587", mailTLS: "465", mailPlain: "25"}[e.TLS]
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 || host == "" || strings.ContainsAny(host, "/@ ") {
		return "", 0, fmt.Errorf("alarms.email.server: %q must be a host, or host:port, as in smtp.example.org:587", hushed(e.Server))
	}
	return host, port, nil
}

// validate repeats no secret.
func (a Alarms) validate() (wrong []error) {
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	check(a.PerHour >= 4 && a.PerHour <= 60, "alarms.per_hour: must be 4 to 60")
	check(a.Studio == "" || webAddress(a.Studio), "alarms.studio: must be an http or https address, as in https://radio.example/studio, or empty")
	check(a.Discord.URL == "" || webAddress(a.Discord.URL), "alarms.discord.url: must be the https address that Discord shows for the webhook")
	check(a.Heartbeat.URL == "" || webAddress(a.Heartbeat.URL), "alarms.heartbeat.url: must be an http or https address")
	t := a.Telegram
	check((t.Token == "") == (t.Chat == ""), "alarms.telegram: needs both token and chat")
	check(t.Token == "" || botToken.MatchString(t.Token), "alarms.telegram.token: must be the token that @BotFather shows, digits, a colon and letters")
	// What is written there is not repeated: it may be the token, by mistake.
	check(t.Chat == "" || chatName.MatchString(t.Chat), "alarms.telegram.chat: must be a number in quotation marks, as in \"-1001234567890\", or \"@channel\"")
	check(webAddress(t.Server), "alarms.telegram.server: must be an https address")
	return append(wrong, a.Email.validate()...)
}

func (e Email) validate() (wrong []error) {
	switch e.TLS {
	case mailSTARTTLS, mailTLS, mailPlain:
	default:
		wrong = append(wrong, fmt.Errorf("alarms.email.tls: %q is not known: use starttls, tls or none", e.TLS))
	}
	if e.Server == "" {
		if e.User != "" || e.From != "" || len(e.To) > 0 {
			wrong = append(wrong, errors.New("alarms.email.server: must not be empty where alarms.email.user, from or to are set"))
		}
		return wrong
	}
	host, _, err := e.HostPort()
	if err != nil {
		wrong = append(wrong, err)
	} else if ip := net.ParseIP(host); e.TLS == mailPlain && e.User != "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		wrong = append(wrong, errors.New("alarms.email.tls: none would send the password unencrypted: use starttls or tls"))
	}
	if (e.User == "") != (e.Password == "") {
		wrong = append(wrong, errors.New("alarms.email.user: needs alarms.email.password, and alarms.email.password needs alarms.email.user"))
	}
	if len(e.To) == 0 || len(e.To) > mostMail {
		wrong = append(wrong, fmt.Errorf("alarms.email.to: must be 1 to %d addresses", mostMail))
	}
	for name, all := range map[string][]string{"from": {e.From}, "to": e.To} {
		for _, text := range all {
			if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
				wrong = append(wrong, fmt.Errorf("alarms.email.%s: %q must be an address, as in studio@example.org", name, text))
			}
		}
	}
	return wrong
}

func webAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil && oneLine(text)
}
