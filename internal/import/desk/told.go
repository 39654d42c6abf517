package desk

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/import/origin"
	"github.com/athir-radio/athir/internal/import/plan"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/onair/rotation"
)

// What is told is the result of a job: whoever works in the studio may see it, and the database
// keeps it. So it has no links, no secrets, and of addresses nothing that may be one.

// mostTold is how many things a list of a result names; the rest is counted.
const mostTold = 200

// Planned is what an import would do.
type Planned struct {
	System    string       `json:"system"`
	Version   string       `json:"version" doc:"As far as the source says"`
	Name      string       `json:"name" doc:"Of the station there"`
	Zone      string       `json:"zone" doc:"Its time zone; empty: unknown"`
	Others    []string     `json:"others" nullable:"false" doc:"Further stations of the source; with problem: those to choose from"`
	Tracks    Tracks       `json:"tracks"`
	NotTracks []NotTrack   `json:"notTracks" nullable:"false" doc:"Those that do not come, the first 200"`
	Playlists []Playlist   `json:"playlists" nullable:"false"`
	People    []Person     `json:"people" nullable:"false" doc:"The first 200"`
	Webhooks  []Webhook    `json:"webhooks" nullable:"false" doc:"The first 200"`
	Left      []plan.Left  `json:"left" nullable:"false" doc:"What else does not come"`
	Warnings  []plan.Words `json:"warnings" nullable:"false"`
	Counts    PlanCounts   `json:"counts" doc:"How long the lists are"`
	Problem   *plan.Words  `json:"problem,omitempty" doc:"Why there is no plan"`
}

// Tracks counts those of a plan.
type Tracks struct {
	Bring int   `json:"bring" doc:"That come"`
	There int   `json:"there" doc:"That the library has"`
	Not   int   `json:"not" doc:"That do not come"`
	Notes int   `json:"notes" doc:"Of which something is said"`
	Bytes int64 `json:"bytes" doc:"Of those that come, as far as known"`
}

// PlanCounts says how long the lists are.
type PlanCounts struct {
	NotTracks int `json:"notTracks"`
	Playlists int `json:"playlists"`
	People    int `json:"people"`
	Webhooks  int `json:"webhooks"`
}

// NotTrack is a track that does not come, and why.
type NotTrack struct {
	From string     `json:"from" doc:"Its path there"`
	Why  plan.Words `json:"why"`
}

// Playlist is one of a plan.
type Playlist struct {
	Name       string             `json:"name"`
	Was        string             `json:"was" doc:"Its name there, where it gets another"`
	Do         plan.Do            `json:"do" enum:"bring,there,not"`
	Kind       string             `json:"kind"`
	Address    string             `json:"address" doc:"Of a remote one, without what may be secret"`
	Order      rotation.ListOrder `json:"order"`
	Plays      rotation.ListPlays `json:"plays"`
	Share      int                `json:"share" doc:"Percent"`
	EverySongs int                `json:"everySongs"`
	Minute     int                `json:"minute"`
	When       []rotation.Window  `json:"when" nullable:"false"`
	On         bool               `json:"on"`
	Tracks     int                `json:"tracks" doc:"That it will have"`
	Without    int                `json:"without" doc:"Tracks of it that do not come"`
	Notes      []plan.Words       `json:"notes" nullable:"false"`
	Why        *plan.Words        `json:"why,omitempty" doc:"Why it does not come"`
}

// Person is one who goes live.
type Person struct {
	Login string       `json:"login"`
	Name  string       `json:"name"`
	Do    plan.Do      `json:"do" enum:"bring,there,not"`
	Notes []plan.Words `json:"notes" nullable:"false"`
	Why   *plan.Words  `json:"why,omitempty"`
}

// Webhook is a call that the station makes.
type Webhook struct {
	Name    string       `json:"name"`
	Type    string       `json:"type"`
	Address string       `json:"address" doc:"Its server"`
	Events  []string     `json:"events" nullable:"false"`
	Off     bool         `json:"off"`
	Do      plan.Do      `json:"do" enum:"bring,there,not"`
	Notes   []plan.Words `json:"notes" nullable:"false"`
	Why     *plan.Words  `json:"why,omitempty"`
}

// Report is what an import did.
type Report struct {
	Copied    int                `json:"copied" doc:"Tracks that were uploaded"`
	There     int                `json:"there" doc:"Tracks that the library had"`
	Noted     int                `json:"noted" doc:"Tracks of which something was said"`
	Playlists int                `json:"playlists" doc:"That were made"`
	Items     int                `json:"items" doc:"Tracks that were put into them"`
	Invited   []Invited          `json:"invited" nullable:"false" doc:"Who sets a password; GET secrets has the links. The first 200"`
	Webhooks  []string           `json:"webhooks" nullable:"false" doc:"Servers of those that were made; GET secrets has their secrets. The first 200"`
	Not       []apply.NotBrought `json:"not" nullable:"false" doc:"What did not come over, and why: the first 200"`
	Counts    ReportCounts       `json:"counts" doc:"How long the lists are"`
	Stopped   bool               `json:"stopped" doc:"It did not come to its end: the same order goes on where it was"`
	Problem   *plan.Words        `json:"problem,omitempty" doc:"What stopped it"`
}

// ReportCounts says how long the lists are.
type ReportCounts struct {
	Invited  int `json:"invited"`
	Webhooks int `json:"webhooks"`
	Not      int `json:"not"`
}

// Invited is somebody who was invited.
type Invited struct {
	Login string `json:"login"`
	Until int64  `json:"until" doc:"Epoch milliseconds: the link's end"`
}

// Secrets are what imports gave since the program began and within a day: only an owner may see
// them, and nothing keeps them.
type Secrets struct {
	Invited  []apply.Invited `json:"invited" nullable:"false" doc:"The link is the studio's address with #/invited/ and the token"`
	Webhooks []apply.Made    `json:"webhooks" nullable:"false"`
}

// give notes what only an owner may see.
func (d *Desk) give(r apply.Report) {
	if len(r.Invited)+len(r.Webhooks) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.given.Invited = append(d.given.Invited, r.Invited...)
	d.given.Webhooks = append(d.given.Webhooks, r.Webhooks...)
	d.givenAt = d.opt.Now()
}

// Secrets returns what imports gave.
func (d *Desk) Secrets() Secrets {
	d.mu.Lock()
	defer d.mu.Unlock()
	return Secrets{append([]apply.Invited{}, d.given.Invited...), append([]apply.Made{}, d.given.Webhooks...)}
}

// first are the first things of a list.
func first[T any](all []T) []T { return append([]T{}, all[:min(len(all), mostTold)]...) }

// problem are the words of an error; nil where it has none of both languages.
func problem(err error) *plan.Words {
	var words interface {
		error
		Spoken() (code, en, ar string, at time.Time)
	}
	if !errors.As(err, &words) {
		return nil
	}
	_, en, ar, _ := words.Spoken()
	return &plan.Words{En: en, Ar: ar}
}

// address is what is told of one.
func address(s string) string {
	if s == "" {
		return ""
	}
	return fetch.Redact(s)
}

// server is the server of an address: the path of a receiver's is often its key.
func server(s string) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil {
		return "…"
	}
	return u.Scheme + "://" + u.Host
}

func (w *work) planned(p *plan.Plan) Planned {
	sum := p.Sum()
	out := Planned{
		System: p.System, Version: p.Version, Name: p.Station, Zone: p.Zone, Others: append([]string{}, p.Others...),
		Tracks: Tracks{sum.Bring, sum.There, sum.Not, sum.Notes, sum.Bytes}, NotTracks: []NotTrack{}, Playlists: []Playlist{}, People: []Person{}, Webhooks: []Webhook{},
		Left: append([]plan.Left{}, p.Left...), Warnings: append([]plan.Words{}, p.Say...),
		Counts: PlanCounts{sum.Not, len(p.Playlists), len(p.People), len(p.Webhooks)},
	}
	for _, t := range p.Tracks {
		if t.Do == plan.Not && t.Why != nil && len(out.NotTracks) < mostTold {
			out.NotTracks = append(out.NotTracks, NotTrack{t.From, w.words(*t.Why)})
		}
	}
	for _, l := range first(p.Playlists) {
		s := l.Settings
		out.Playlists = append(out.Playlists, Playlist{
			s.Name, l.Was, l.Do, s.Kind, address(s.Address), s.Order, s.Plays, s.Share, s.EverySongs, s.Minute, append([]rotation.Window{}, s.When...), s.On,
			len(l.Items), l.Without, append([]plan.Words{}, l.Notes...), l.Why,
		})
	}
	for _, one := range first(p.People) {
		out.People = append(out.People, Person{one.Login, one.Name, one.Do, append([]plan.Words{}, one.Notes...), one.Why})
	}
	for _, h := range first(p.Webhooks) {
		out.Webhooks = append(out.Webhooks, Webhook{h.Name, h.Type, server(h.Address), append([]string{}, h.Events...), h.Off, h.Do, append([]plan.Words{}, h.Notes...), h.Why})
	}
	return out
}

// unplanned is told where there is no plan.
func (w *work) unplanned(ctx context.Context, err error) (Planned, error) {
	out := w.planned(&plan.Plan{System: w.order.system()})
	var which *model.WhichError
	if errors.As(err, &which) {
		out.Others = first(which.There)
	}
	err = w.failed(ctx, err)
	out.Problem = problem(err)
	return out, err
}

func (w *work) words(of plan.Words) plan.Words {
	return plan.Words{En: w.plain(of.En), Ar: w.plain(of.Ar)}
}

// report is told of what was done until an error, if there is one.
func (w *work) report(r apply.Report, err error) Report {
	out := Report{
		Copied: r.Copied, There: r.There, Noted: r.Noted, Playlists: r.Playlists, Items: r.Items, Invited: []Invited{}, Webhooks: []string{}, Not: []apply.NotBrought{},
		Counts: ReportCounts{len(r.Invited), len(r.Webhooks), len(r.Not)}, Stopped: r.Stopped, Problem: problem(err),
	}
	for _, one := range first(r.Invited) {
		out.Invited = append(out.Invited, Invited{one.Login, one.Until})
	}
	for _, h := range first(r.Webhooks) {
		out.Webhooks = append(out.Webhooks, server(h.Address))
	}
	for _, n := range first(r.Not) {
		if origin.IsAddress(n.What) {
			n.What = server(n.What)
		}
		out.Not = append(out.Not, apply.NotBrought{Stage: n.Stage, What: w.plain(n.What), Why: w.words(n.Why)})
	}
	return out
}
