package webpush

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

// letter is a notice on its way to one subscriber.
type letter struct {
	reader
	lane   *lane
	notice *Notice
	manner manner
	text   []byte
	until  time.Time // after that it is not worth sending
	tries  int
	short  bool
	due    time.Time // of the next attempt, while it waits
}

// mostTries bounds the attempts at one letter, not counting the short form. A
// subscriber whose last letter failed gets one attempt.
const mostTries = 3

// work delivers the letters of a lane until ctx ends.
func (p *Push) work(ctx context.Context, lane *lane) {
	for {
		select {
		case l := <-lane.letters:
			p.deliver(ctx, l)
		case <-ctx.Done():
			return
		}
	}
}

// deliver makes one attempt and acts on its outcome.
func (p *Push) deliver(ctx context.Context, l *letter) {
	now := p.opt.Now()
	if !now.Before(l.until) {
		p.dropped.Add(1)
		return
	}
	if free := l.lane.later.freeAt(l.endpoint, now); free.After(now) {
		p.wait(l, free) // the service asked for a pause: not counted as an attempt
		return
	}
	l.tries++
	answer, err := p.send(ctx, l)
	if ctx.Err() != nil && err != nil {
		p.dropped.Add(1)
		return // Run is ending
	}
	var blocked *fetch.BlockedError
	switch status := answer.Status; {
	case errors.As(err, &blocked):
		p.opt.Log.Warn("push subscription removed, its endpoint is not a push service", "endpoint", originText(l.endpoint), "err", fetch.Secretless(err, l.endpoint, p.opt.Sender.Check))
		p.ledger.gone(l.n, now.UnixMilli())
	case err != nil, status == http.StatusTooManyRequests, status >= 500:
		p.again(l, answer, err)
	case status >= 200 && status < 300:
		p.sent.Add(1)
		if l.failing {
			p.ledger.well(l.n)
		}
	case status == http.StatusNotFound, status == http.StatusGone:
		p.ledger.gone(l.n, now.UnixMilli())
	case l.stranger && l.failing && unwelcome(status): // refused twice in a row
		p.ledger.gone(l.n, now.UnixMilli())
	case status == http.StatusRequestEntityTooLarge && !l.short:
		p.shorten(ctx, l)
	default:
		p.fail(l, answer, nil)
	}
}

// send posts a letter once.
func (p *Push) send(ctx context.Context, l *letter) (fetch.Answer, error) {
	body, err := seal(l.text, l.p256dh, l.auth)
	if err != nil {
		return fetch.Answer{}, err
	}
	authorization, err := p.voucher.header(l.endpoint)
	if err != nil {
		return fetch.Answer{}, err
	}
	left := int(l.until.Sub(p.opt.Now()).Seconds())
	return p.opt.Sender.Send(ctx, fetch.Sending{
		URL: l.endpoint, Body: body, Timeout: p.opt.Timeout,
		Header: http.Header{
			"Authorization":    {authorization},
			"Content-Encoding": {"aes128gcm"},
			"Content-Type":     {"application/octet-stream"},
			"Ttl":              {strconv.Itoa(max(0, left))},
			"Urgency":          {l.manner.urgency},
			"Topic":            {string(l.notice.Topic)}, // a newer message of the topic replaces it
		},
	})
}

// again schedules another attempt, unless the letter has used up its attempts or its time.
func (p *Push) again(l *letter, answer fetch.Answer, err error) {
	pause := p.opt.Backoff
	if l.tries > 1 {
		pause *= 6
	}
	pause = time.Duration(float64(pause) * (0.9 + 0.2*rand.Float64()))
	now := p.opt.Now()
	pause = max(pause, answer.RetryAfter)
	if answer.RetryAfter > 0 || err != nil { // a service that hangs must not keep every worker busy
		l.lane.later.hold(l.endpoint, now.Add(pause))
	}
	if l.failing || l.tries >= mostTries || !now.Add(pause).Before(l.until) {
		p.fail(l, answer, err)
		return
	}
	p.wait(l, now.Add(pause))
}

func (p *Push) wait(l *letter, until time.Time) {
	l.due = until
	if !until.Before(l.until) || !l.lane.later.add(l) {
		p.dropped.Add(1)
	}
}

// shorten sends the short form at once, because the service found the long one too large.
func (p *Push) shorten(ctx context.Context, l *letter) {
	text, err := p.message(l.notice, l.lang, true)
	if err != nil {
		p.fail(l, fetch.Answer{}, err)
		return
	}
	l.text, l.short = text, true
	l.tries--
	p.deliver(ctx, l)
}

func (p *Push) fail(l *letter, answer fetch.Answer, err error) {
	p.failed.Add(1)
	p.ledger.failed(l.n, p.opt.Now().UnixMilli())
	why := ""
	if err != nil {
		why = fetch.Secretless(err, l.endpoint, p.opt.Sender.Check)
	}
	p.opt.Log.Debug("push message not delivered", "service", originText(l.endpoint), "status", answer.Status, "err", why)
}

// originText returns the part of an endpoint that may be logged: the rest is its
// owner's secret.
func originText(endpoint string) string {
	origin, err := originOf(endpoint)
	if err != nil {
		return "unreadable"
	}
	return origin
}
