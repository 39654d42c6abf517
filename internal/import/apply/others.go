package apply

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/athir-radio/athir/internal/import/plan"
)

// people invites those who go live.
func (a *applier) people(ctx context.Context) error {
	for i := range a.Plan.People {
		p := &a.Plan.People[i]
		a.Show(Progress{People, i, len(a.Plan.People), p.Login})
		switch p.Do {
		case plan.Not:
			a.not(People, p.Login, *cmp.Or(p.Why, &plan.Words{}))
		case plan.Bring:
			if err := a.invite(ctx, p); err != nil {
				return err
			}
		case plan.There:
			if !a.untold.people[p.Login] {
				continue
			}
			a.not(People, p.Login, linkAgain(p.Login))
			if err := a.journal.note(entry{Kind: kindPerson, ID: p.Login, Done: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// linkAgain says of somebody whose link went with a run that was killed how to make another.
func linkAgain(login string) plan.Words {
	return plan.Words{En: "The login is there already. Make a link under People in the studio, or with athir people link " + login, Ar: "اسم المستخدم موجود هنا. أنشئ رابطًا من قسم المستخدمين في الاستوديو، أو بالأمر athir people link " + login}
}

func (a *applier) invite(ctx context.Context, p *plan.Person) error {
	var made struct {
		Token string `json:"token"`
		Until int64  `json:"until"`
	}
	if err := a.journal.note(entry{Kind: kindPerson, ID: p.Login}); err != nil {
		return err
	}
	err := a.again(ctx, func() error {
		return a.station.call(ctx, http.MethodPost, "/api/people", map[string]string{"login": p.Login, "name": p.Name, "role": "presenter"}, &made)
	})
	var refused *Refused
	switch {
	case err == nil:
		a.report.Invited = append(a.report.Invited, Invited{p.Login, made.Token, made.Until})
	case errors.As(err, &refused) && refused.Status == http.StatusConflict: // the answer to an earlier try was lost
		a.not(People, p.Login, linkAgain(p.Login))
	default:
		why, err := refusal(err)
		if err != nil {
			return err
		}
		a.not(People, p.Login, why)
		return nil
	}
	return a.journal.note(entry{Kind: kindPerson, ID: p.Login, Done: true})
}

// webhooks makes them; one that was off is switched off at once.
func (a *applier) webhooks(ctx context.Context) error {
	for i := range a.Plan.Webhooks {
		h := &a.Plan.Webhooks[i]
		a.Show(Progress{Webhooks, i, len(a.Plan.Webhooks), h.Name})
		was, begun := a.journal.webhook(h.Address)
		if h.Do == plan.Not {
			a.not(Webhooks, cmp.Or(h.Name, h.Type), *cmp.Or(h.Why, &plan.Words{}))
			continue
		}
		if was.id != "" && a.untold.hooks[h.Address] {
			a.not(Webhooks, h.Address, plan.Words{En: "It was made, and its secret was told to nobody: make a new one under Webhooks.", Ar: "أُنشئ ولم يُعرض سره على أحد. أنشئ له سرًا جديدًا من قسم الإخطارات الآلية."})
			delete(a.untold.hooks, h.Address)
		}
		if h.Do != plan.Bring && (!begun || was.done) {
			continue
		}
		err := a.again(ctx, func() error { return a.webhook(ctx, h) })
		if err == nil {
			continue
		}
		why, err := refusal(err)
		if err != nil {
			return err
		}
		a.not(Webhooks, cmp.Or(h.Name, h.Address), why)
	}
	return nil
}

func (a *applier) webhook(ctx context.Context, h *plan.Webhook) error {
	made, begun := a.journal.webhook(h.Address)
	if begun && made.id == "" {
		all, err := a.station.webhooks(ctx)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(one webhook) bool { return one.URL == h.Address }) {
			return a.perhaps(h)
		}
	} else if !begun {
		if err := a.journal.note(entry{Kind: kindWebhook, ID: h.Address}); err != nil {
			return err
		}
	}
	if made.id == "" {
		var hook webhook
		if err := a.station.call(ctx, http.MethodPost, "/api/station/webhooks", map[string]any{"url": h.Address, "events": h.Events}, &hook); err != nil {
			return err
		}
		made.id = hook.ID
		a.report.Webhooks = append(a.report.Webhooks, Made{h.Address, hook.Secret})
		if err := a.journal.note(entry{Kind: kindWebhook, ID: h.Address, Hook: made.id}); err != nil {
			return err
		}
	}
	if h.Off {
		if err := a.station.call(ctx, http.MethodPut, "/api/station/webhooks/"+url.PathEscape(made.id), map[string]any{"enabled": false}, nil); err != nil {
			return err
		}
	}
	return a.journal.note(entry{Kind: kindWebhook, ID: h.Address, Hook: made.id, Done: true})
}

// perhaps tells of a webhook whose making was not answered, or that somebody else has made since:
// it may be theirs, and is left as it is.
func (a *applier) perhaps(h *plan.Webhook) error {
	why := plan.Words{En: "A webhook to this address is there; its secret was told to nobody if the import made it: make a new one under Webhooks.", Ar: "يوجد إخطار آلي إلى هذا العنوان. إن كان الاستيراد أنشأه فلم يُعرض سره على أحد، فأنشئ له سرًا جديدًا من قسم الإخطارات الآلية."}
	if h.Off {
		why.En += " It was off there: switch it off here."
		why.Ar += " كان متوقفًا هناك، فأوقفه هنا."
	}
	a.not(Webhooks, h.Address, why)
	return a.journal.note(entry{Kind: kindWebhook, ID: h.Address, Done: true})
}
