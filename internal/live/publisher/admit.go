package publisher

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/live"
)

// Admit answers whoever wants to go live. Unknown publishers and wrong secrets get the same
// answer in the same time; an address that sends many of them is limited, whatever it sends
// next, and others are not. Who was let in before and is asked about again is no try, and
// no news; who only looks is no news, and a wrong key is a try all the same.
func (p *Publishers) Admit(c live.Credentials) live.Admission {
	now, news, warning := p.opt.Now(), slog.LevelInfo, slog.LevelWarn
	if c.Again {
		news, warning = slog.LevelDebug, slog.LevelDebug
	}
	if c.Look {
		news = slog.LevelDebug
	}
	a, known := p.proven(c.User, c.Secret)
	if known { // a right secret is never limited: presenters may share an address with a guesser
		out := p.judge(a, now)
		p.opt.Log.Log(context.Background(), news, "publisher asks to go live", "publisher", a.ID, "name", a.Name, "protocol", c.Protocol, "mount", c.Mount,
			"address", c.Address, "again", c.Again, "allowed", out.Allowed, "code", out.Code)
		return out
	}
	var limit *client.LimitError
	if !c.Again && errors.As(p.wrong.Take(c.Address), &limit) {
		return live.Admission{
			Code: CodeLimited, RetryAt: now.Add(limit.RetryAfter).UnixMilli(),
			Detail: fmt.Sprintf("Too many wrong keys came from this address. Try again in %d seconds.", limit.Seconds()),
		}
	}
	p.opt.Log.Log(context.Background(), warning, "a wrong key wanted to go live", "again", c.Again, "user", fmt.Sprintf("%.40q", c.User), "protocol", c.Protocol, "mount", fmt.Sprintf("%.100q", c.Mount), "address", c.Address)
	return live.Admission{Code: CodeUnknown, Detail: "This key is not valid. Ask the studio for a new link."}
}

// proven returns the publisher of a user name whose secret is right.
func (p *Publishers) proven(user, secret string) (record, bool) {
	hash := sha256.Sum256([]byte(secret))
	var found record
	for _, a := range *p.all.Load() {
		if a.ID == user { // ids are no secret
			found = a
		}
	}
	same := subtle.ConstantTimeCompare(hash[:], found.hash[:]) == 1
	return found, same && found.ID != ""
}

// Allowed answers for a publisher who was admitted before: whether it may go on. Auto in it
// is false while it may only wait.
func (p *Publishers) Allowed(id string) live.Admission {
	a, err := p.find(id)
	if err != nil {
		return live.Admission{Code: CodeRevoked, Detail: "This key was deleted by the studio."}
	}
	return p.judge(a, p.opt.Now())
}

// judge decides for one publisher.
func (p *Publishers) judge(a record, now time.Time) live.Admission {
	out := live.Admission{Publisher: live.Presenter{ID: a.ID, Name: a.Name, Show: a.Show}}
	if a.Revoked {
		out.Code, out.Detail = CodeRevoked, "This key was revoked by the studio. Ask for a new link."
		return out
	}
	o := open(a.times, moment(a.From), moment(a.Until), time.Duration(a.Grace)*time.Minute, p.opt.Zone, now)
	if !o.ok {
		out.Code, out.RetryAt = o.code, millis(o.at)
		out.Detail = p.words(o)
		return out
	}
	out.Allowed, out.Publisher.Until, out.Publisher.Auto = true, millis(o.until), a.Auto && o.proper
	return out
}

// words explain a refusal.
func (p *Publishers) words(o opening) string {
	next := o.at.In(p.opt.Zone).Format("Monday 2 January, 15:04")
	switch {
	case o.code == CodeEarly:
		return "It is too early. You may go live from " + next + " (station time)."
	case o.at.IsZero():
		return "The time of this key is over. Ask the studio for a new one."
	}
	return "Your time is over. You may go live again from " + next + " (station time)."
}

// moment is epoch milliseconds as a time; 0 is none.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
