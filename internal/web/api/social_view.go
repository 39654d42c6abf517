package api

import (
	"context"
	"fmt"

	"github.com/athir-radio/athir/internal/audience/social"
	why "github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// Post is a post as the API shows it. What is not for everybody is shown to its submitter,
// with the token, what is not for the submitter to moderators.
type Post struct {
	social.Shown
	OnAir  bool      `json:"onAir" doc:"It is heard now"`
	NextAt int64     `json:"nextAt" doc:"When it airs next, epoch milliseconds; 0 while it is not planned"`
	Place  int       `json:"place,omitempty" doc:"In the chart"`
	Peaks  []float64 `json:"peaks,omitempty" doc:"The waveform, 0 to 1; of a single post"`

	Reason   *Reason        `json:"reason,omitempty" doc:"For its submitter and moderators, as all that follows: why it stands where it stands"`
	Appeal   string         `json:"appeal,omitempty" doc:"The submitter's words against a rejection"`
	Stage    string         `json:"stage,omitempty" enum:"queued,fetching,checking,comparing,mastering" doc:"Of a post in processing"`
	Progress float64        `json:"progress,omitempty" doc:"Of the stage, 0 to 1"`
	Tries    int            `json:"tries,omitempty" doc:"Attempts at processing"`
	NextTry  int64          `json:"nextTryAt,omitempty" doc:"Of a failed post, epoch milliseconds; missing: a moderator decides"`
	Loudness *social.Levels `json:"loudness,omitempty"`
	Notes    []string       `json:"notes,omitempty" doc:"Of the check: video_sound_only and others"`
	Source   string         `json:"source,omitempty" doc:"The file's own name, or the address"`
	Bytes    int64          `json:"bytes,omitempty" doc:"Of what was sent"`

	File       string            `json:"file,omitempty" doc:"For moderators, as all that follows: relative to the media root"`
	Submitter  *social.Submitter `json:"submitter,omitempty"`
	Duplicates []Duplicate       `json:"duplicates,omitempty" doc:"What it sounds like, or shares its names with"`
	History    []social.Entry    `json:"history,omitempty" doc:"Of a single post"`
	Reports    []social.Report   `json:"reports,omitempty" doc:"Of a single post"`
	LoudestAt  int64             `json:"loudestAt,omitempty" doc:"Where the loudest ten seconds begin, milliseconds"`
	Spectrum   [][]int           `json:"spectrum,omitempty" doc:"Columns over time of levels from the lowest band up, 0 to 255; of a single post"`
	Rights     string            `json:"rights,omitempty" doc:"What the submitter confirmed"`
}

// Duplicate is a recording that a post sounds like, or that has its names.
type Duplicate struct {
	Kind       string  `json:"kind" enum:"library,post"`
	File       string  `json:"file,omitempty" doc:"Of a track of the library"`
	Post       int64   `json:"post,omitempty"`
	Title      string  `json:"title"`
	Artist     string  `json:"artist"`
	Difference float64 `json:"difference" doc:"Share of differing bits of the fingerprints; 1 where only names agree"`
	SameName   bool    `json:"sameName"`
	Status     string  `json:"status,omitempty" doc:"Of the post, when it was compared"`
	Audio      string  `json:"audio,omitempty" doc:"Where moderators hear it"`
}

// Reason says why a post stands where it stands.
type Reason struct {
	Code string `json:"code"`
	En   string `json:"en"`
	Ar   string `json:"ar"`
	Note string `json:"note,omitempty" doc:"A person's words"`
}

func reasonOf(r *why.Refusal) *Reason {
	if r == nil {
		return nil
	}
	en, ar := why.Words(r)
	return &Reason{string(r.Code), en, ar, r.Note}
}

// postOnAir returns the listener's post that is heard; nil where it is none.
func (s *Server) postOnAir(now scheduler.OnAir) *station.PostOnAir {
	if s.opt.Social == nil || now.Kind != scheduler.Rotation {
		return nil
	}
	p := s.opt.Social.Posts.Of(now.Track.Path)
	if p == nil {
		return nil
	}
	return &station.PostOnAir{ID: p.ID, By: p.CreatedBy, Page: social.PageOf(p.ID)}
}

// placed says when posts air: what is heard now and what is to come, by path.
type placed struct {
	onAir string
	next  map[string]int64
}

func (s *Server) placed() placed {
	air := s.opt.Air()
	out := placed{onAir: air.OnAir.Track.Path, next: map[string]int64{}}
	for _, it := range air.Items() {
		if _, post := station.PostOf(it.Track.Path); post && !it.Aired && !it.OnAir && !it.ExpectedAt.IsZero() {
			if _, there := out.next[it.Track.Path]; !there {
				out.next[it.Track.Path] = it.ExpectedAt.UnixMilli()
			}
		}
	}
	return out
}

// shown is a post for everybody.
func (p *Social) shown(one *social.Post, at placed) Post {
	return Post{Shown: p.Posts.Show(one), OnAir: one.File != "" && at.onAir == one.File, NextAt: at.next[one.File]}
}

// privately adds what a submitter sees.
func (p *Social) privately(out *Post, one *social.Post) {
	stage, share := p.Posts.Work(one)
	out.Reason, out.Appeal, out.Stage, out.Progress = reasonOf(one.Reason), one.Appeal, string(stage), share
	out.Tries, out.NextTry, out.Notes, out.Source, out.Bytes = one.Tries, one.NextTry, one.Finding.Notes, one.Source.Name, one.Source.Bytes
	if one.File != "" {
		levels := one.Levels
		out.Loudness = &levels
	}
}

// submitters are those of posts that are shown together, each read once: all may be one's.
type submitters map[string]social.Submitter

func (known submitters) of(ctx context.Context, p *Social, one *social.Post) (social.Submitter, error) {
	if about, ok := known[one.Submitter]; ok {
		return about, nil
	}
	about, err := p.Posts.SubmitterOf(ctx, one)
	if err == nil {
		known[one.Submitter] = about
	}
	return about, err
}

// forReview adds what a moderator sees of a post in a list.
func (p *Social) forReview(out *Post, one *social.Post, about social.Submitter) {
	p.privately(out, one)
	out.File, out.Submitter, out.Rights, out.LoudestAt = one.File, &about, one.Rights, one.Finding.LoudestAt.Milliseconds()
	for _, l := range one.Alike {
		d := Duplicate{Kind: "library", Audio: alikePath(one.ID, asShown(l.File)), File: asShown(l.File), Post: l.Post, Title: l.Title, Artist: l.Artist, Difference: l.Difference, SameName: l.SameName, Status: string(l.Status)}
		if l.Post != 0 {
			d.Kind, d.Audio = "post", fmt.Sprintf("/api/social/posts/%d/audio", l.Post)
		}
		out.Duplicates = append(out.Duplicates, d)
	}
}

// whole adds what a moderator sees of a single post.
func (p *Social) whole(ctx context.Context, out *Post, one *social.Post, about social.Submitter) (err error) {
	p.forReview(out, one, about)
	if out.History, err = p.Posts.History(ctx, one.ID); err != nil {
		return err
	}
	out.Reports, err = p.Posts.ReportsOf(ctx, one.ID)
	for from, bands := 0, one.Finding.Spectrum.Bands; bands > 0 && from+bands <= len(one.Finding.Spectrum.Power); from += bands {
		column := make([]int, bands)
		for i, v := range one.Finding.Spectrum.Power[from : from+bands] {
			column[i] = int(v)
		}
		out.Spectrum = append(out.Spectrum, column)
	}
	return err
}
