// Package telegram sends alarms to a chat by the Bot API of Telegram
// (https://core.telegram.org/bots/api#sendmessage). It reads no messages.
package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/kit/fetch"
)

// longest is the API's bound of a text, in UTF-16 units.
const longest = 4096

// Options of a receiver. All are required.
type Options struct {
	Sender Sender
	Server string // https://api.telegram.org, or one's own Bot API server
	Token  string // of the bot
	Chat   string // number of a chat, or @name of a channel
}

// Sender is a *fetch.Client.
type Sender interface {
	Send(ctx context.Context, s fetch.Sending) (fetch.Answer, error)
	Check(address string) (*url.URL, error)
}

// Receiver returns the chat as a receiver.
func Receiver(o Options) alarm.Receiver {
	return alarm.Receiver{Name: "telegram", Longest: longest, Send: o.send}
}

// order is the body of sendMessage. Without a parse_mode the text is taken as it is.
type order struct {
	Chat    string `json:"chat_id"`
	Text    string `json:"text"`
	Preview struct {
		Off bool `json:"is_disabled"`
	} `json:"link_preview_options"`
}

// answer is what every method of the API answers.
type answer struct {
	OK          bool   `json:"ok"`
	Code        int    `json:"error_code"`
	Description string `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"` // seconds
		MovedTo    int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

func (o Options) send(ctx context.Context, m alarm.Message) error {
	what := order{Chat: o.Chat, Text: m.Subject + "\n\n" + m.Text}
	what.Preview.Off = true
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}
	address := strings.TrimSuffix(o.Server, "/") + "/bot" + o.Token + "/sendMessage"
	got, err := o.Sender.Send(ctx, fetch.Sending{URL: address, Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Limit: 8 << 10})
	if err != nil {
		return alarm.Unsent(err, address, o.Sender.Check)
	}
	var a answer
	understood := json.Unmarshal(got.Body, &a) == nil
	if understood && a.OK && got.Status == http.StatusOK {
		return nil
	}
	if !understood || a.Code == 0 {
		return &alarm.Failure{
			Why:     fmt.Sprintf("what answers is not Telegram's Bot API: it said %d %s", got.Status, http.StatusText(got.Status)),
			Remedy:  "check alarms.telegram.server, and that no proxy is between",
			Lasting: got.Status < http.StatusInternalServerError,
			Perhaps: got.Status/100 == 2 || got.Status >= http.StatusInternalServerError,
		}
	}
	return a.failure()
}

// failure reads an answer that is a refusal. The API has no codes but those of HTTP: the
// description tells more.
func (a answer) failure() *alarm.Failure {
	f := &alarm.Failure{Why: fmt.Sprintf("Telegram refuses it: %d %s", a.Code, a.Description), Lasting: true}
	said := strings.ToLower(a.Description)
	has := func(words string) bool { return strings.Contains(said, words) }
	switch {
	case a.Code == http.StatusTooManyRequests:
		f.Lasting, f.After = false, time.Duration(a.Parameters.RetryAfter)*time.Second
	case a.Code >= http.StatusInternalServerError:
		f.Lasting, f.Perhaps = false, true
	case a.Code == http.StatusUnauthorized, a.Code == http.StatusNotFound:
		f.Remedy = "alarms.telegram.token is not that of a bot: copy it from @BotFather"
	case a.Parameters.MovedTo != 0:
		f.Remedy = fmt.Sprintf("the group has another number now: set alarms.telegram.chat: \"%d\"", a.Parameters.MovedTo)
	case has("chat not found"):
		f.Remedy = "check alarms.telegram.chat; in a chat of your own write to the bot first, and add it to a group or channel"
	case a.Code == http.StatusForbidden && has("blocked"):
		f.Remedy = "unblock the bot in Telegram"
	case a.Code == http.StatusForbidden, has("not enough rights"), has("need administrator rights"):
		f.Remedy = "write to the bot first, or add it to the group or channel and let it post there"
	}
	return f
}
