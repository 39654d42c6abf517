// Package discord sends alarms to a channel by a webhook of Discord
// (https://discord.com/developers/docs/resources/webhook#execute-webhook).
package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/kit/fetch"
)

const (
	// longest is the bound of a text: 2000 characters, counted as UTF-16 units to be safe.
	longest = 2000
	// noPreviews is the flag SUPPRESS_EMBEDS.
	noPreviews = 1 << 2
)

// Sender is a *fetch.Client.
type Sender interface {
	Send(ctx context.Context, s fetch.Sending) (fetch.Answer, error)
	Check(address string) (*url.URL, error)
}

// Receiver returns the channel of a webhook's address as a receiver. The address is a secret.
func Receiver(sender Sender, address string) alarm.Receiver {
	w := webhook{sender, address}
	return alarm.Receiver{Name: "discord", Longest: longest, Send: w.send}
}

type webhook struct {
	sender  Sender
	address string
}

type order struct {
	Content  string `json:"content"`
	Flags    int    `json:"flags"`
	Mentions struct {
		Parse []string `json:"parse"` // none: what was found may hold an @
	} `json:"allowed_mentions"`
}

// refusal is the body of an answer that is one.
type refusal struct {
	Message    string  `json:"message"`
	Code       int     `json:"code"`
	RetryAfter float64 `json:"retry_after"` // seconds
}

func (w webhook) send(ctx context.Context, m alarm.Message) error {
	what := order{Content: m.Subject + "\n\n" + m.Text, Flags: noPreviews}
	what.Mentions.Parse = []string{}
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}
	got, err := w.sender.Send(ctx, fetch.Sending{URL: w.address, Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Limit: 8 << 10})
	if err != nil {
		return alarm.Unsent(err, w.address, w.sender.Check)
	}
	if got.Status/100 == 2 {
		return nil
	}
	return failure(got)
}

func failure(got fetch.Answer) *alarm.Failure {
	var r refusal
	_ = json.Unmarshal(got.Body, &r) // a proxy's page says nothing
	f := &alarm.Failure{Why: fmt.Sprintf("Discord refuses it: %d %s", got.Status, http.StatusText(got.Status)), Lasting: true}
	if r.Message != "" {
		f.Why += fmt.Sprintf(" (%s, code %d)", r.Message, r.Code)
	}
	switch got.Status {
	case http.StatusTooManyRequests:
		f.Lasting, f.After = false, max(got.RetryAfter, time.Duration(r.RetryAfter*float64(time.Second)))
	case http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden:
		f.Remedy = "there is no such webhook any more: make one in the channel's settings (Integrations) and put its address into alarms.discord.url"
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		f.Remedy = "alarms.discord.url leads elsewhere: write it as Discord shows it"
	default:
		if got.Status >= http.StatusInternalServerError {
			f.Lasting, f.Perhaps = false, true
		}
	}
	return f
}
