package podcast

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/station"
)

// Edit is what an operator changes of an episode; what is nil stays.
type Edit struct {
	Title, Summary, Creator *string
	Chapters                *[]Chapter
	Explicit, Pinned        *bool
	State                   *State // published or hidden
}

// Offers is what an episode of a show can be made of and was not yet, the newest first, whether the
// show takes such by itself or not. Errors: station.ErrNotFound, station.ErrUnavailable.
func (p *Podcasts) Offers(ctx context.Context, slug string) ([]Raw, error) {
	s, ok := p.book.Load().shelves[slug]
	if !ok {
		return nil, noShow(slug)
	}
	origin, err := p.origin(s.From.Kind)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, offersWithin)
	defer cancel()
	all, err := origin.Offers(ctx)
	if err != nil {
		return nil, fmt.Errorf("list what can become an episode of show %s: %w", slug, err)
	}
	return slices.DeleteFunc(slices.Clone(all), func(r Raw) bool {
		return s.records[idOf(s.GUID, r.Source)] != nil
	}), nil
}

func (p *Podcasts) origin(kind Kind) (Origin, error) {
	if o := p.opt.Origins[kind]; o != nil {
		return o, nil
	}
	return nil, fmt.Errorf("the station has no %s now: look at its settings: %w", kind, station.ErrUnavailable)
}

// Add makes an episode by hand: of anything of the show's kind, older too, or of a file of the
// library. Errors: station.ErrNotFound, station.ErrInvalid, station.ErrConflict where it is an
// episode already, station.ErrFull, station.ErrUnavailable.
func (p *Podcasts) Add(ctx context.Context, slug string, from Source) (Episode, error) {
	s, ok := p.book.Load().shelves[slug]
	if !ok {
		return Episode{}, noShow(slug)
	}
	if from.Key == "" || len(from.Key) > 1000 || !utf8.ValidString(from.Key) || from.Kind != s.From.Kind && from.Kind != Library {
		return Episode{}, station.Wrong("key", "must be one of what the show offers, or a file of the library", "اختر واحدًا مما يعرضه البرنامج، أو ملفًا من المكتبة")
	}
	origin, err := p.origin(from.Kind)
	if err != nil {
		return Episode{}, err
	}
	found, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	raw, err := origin.Find(found, from.Key)
	if err != nil {
		return Episode{}, fmt.Errorf("find what the episode is to be made of: %w", err)
	}
	raw.Source = from // what is asked for again is found again
	var e Episode
	err = p.change(ctx, slug, func(s *shelf) error {
		if s.Removed != 0 {
			return fmt.Errorf("show %s was removed: bring it back first: %w", slug, station.ErrConflict)
		}
		if r := s.records[idOf(s.GUID, from)]; r != nil && r.State == Removed {
			return fmt.Errorf("episode %s of it was removed: bring it back: %w", r.ID, station.ErrConflict)
		} else if r != nil {
			return fmt.Errorf("it is episode %s already: %w", r.ID, station.ErrConflict)
		}
		r, err := s.add(raw, p.opt.Now())
		if err == nil {
			e = r.Episode
		}
		return err
	})
	if err == nil {
		nudge(p.ready)
	}
	return e, err
}

// add makes an episode that is still to be made. Where there are too many the oldest goes.
func (s *shelf) add(raw Raw, now time.Time) (*record, error) {
	if len(s.records) >= MostEpisodes {
		spare := spares(s)
		if len(spare) == 0 {
			return nil, fmt.Errorf("the show has %d episodes, no more are kept, and all are pinned: unpin or remove some: %w", len(s.records), station.ErrFull)
		}
		s.touch(now)
		s.forget(spare[0].ID, now.UnixMilli())
	}
	id := idOf(s.GUID, raw.Source)
	delete(s.gone, id)
	s.numbers++
	r := &record{born: now.UnixMilli(), Episode: Episode{
		ID: id, Show: s.Slug, Number: s.numbers, GUID: "urn:uuid:" + uuid5(s.GUID, id), State: Making, Source: raw.Source,
		Title: clip(cmp.Or(oneLine(raw.Title), s.Title), mostTitle), Summary: clip(lines(raw.Summary), mostText),
		Artist: clip(oneLine(raw.Artist), mostTitle), Creator: clip(oneLine(raw.Creator), mostTitle),
		Began: millis(raw.Began), Changed: now.UnixMilli(), DurationMS: max(0, raw.Duration.Milliseconds()),
		Text: clipBytes(lines(raw.Text), mostSaid), Listeners: raw.Listeners, Explicit: s.Explicit,
	}}
	if math.IsNaN(r.Listeners) || math.IsInf(r.Listeners, 0) {
		r.Listeners = -1 // JSON has neither
	}
	if station.CoverID(raw.Cover) {
		r.Cover = raw.Cover
	}
	r.opens = millis(raw.From)
	r.Chapters = tidied(raw.Chapters, r.DurationMS)
	s.records[id] = r
	return r, nil
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// tidied are chapters as an origin has them, in order, those left out that are none.
func tidied(of []Chapter, durationMS int64) []Chapter {
	out := []Chapter{}
	for _, c := range slices.SortedStableFunc(slices.Values(of), func(a, b Chapter) int { return cmp.Compare(a.StartMS, b.StartMS) }) {
		c = Chapter{max(0, c.StartMS), clip(oneLine(c.Title), mostTitle), clip(oneLine(c.Artist), mostTitle)}
		late := durationMS > 0 && c.StartMS >= durationMS
		if c.Title == "" || late || len(out) > 0 && out[len(out)-1].StartMS == c.StartMS || len(out) == MostChapters {
			continue
		}
		out = append(out, c)
	}
	return out
}

// checked are chapters as an operator has them. The error is of kind station.ErrInvalid.
func checked(of []Chapter, durationMS int64) ([]Chapter, error) {
	if len(of) > MostChapters {
		return nil, station.Wrong("chapters", fmt.Sprintf("must be %d at most", MostChapters), fmt.Sprintf("الفصول كثيرة: %d على الأكثر", MostChapters))
	}
	out := []Chapter{}
	for i, c := range of {
		at := fmt.Sprintf("chapters[%d].", i)
		c.Title, c.Artist = oneLine(c.Title), oneLine(c.Artist)
		switch {
		case c.Title == "":
			return nil, station.Wrong(at+"title", "must not be empty", "لكل فصل عنوان: اكتبه أو احذف الفصل")
		case utf8.RuneCountInString(c.Title) > mostTitle:
			return nil, tooLong(at+"title", "عنوان الفصل", utf8.RuneCountInString(c.Title), mostTitle)
		case utf8.RuneCountInString(c.Artist) > mostTitle:
			return nil, tooLong(at+"artist", "اسم الفنان", utf8.RuneCountInString(c.Artist), mostTitle)
		case c.StartMS < 0 || durationMS > 0 && c.StartMS >= durationMS:
			return nil, station.Wrong(at+"startMs", "must be within the episode", "يبدأ كل فصل ضمن مدة الحلقة")
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Chapter) int { return cmp.Compare(a.StartMS, b.StartMS) })
	for i := range out {
		if i > 0 && out[i].StartMS == out[i-1].StartMS {
			return nil, station.Wrong("chapters", "two begin at the same moment: move one", "يبدأ فصلان في اللحظة نفسها: غيّر أحدهما")
		}
	}
	return out, nil
}

// Edit changes an episode. What its file says of itself stays as it was made. Errors:
// station.ErrNotFound; station.ErrInvalid, naming the field; station.ErrConflict where its state
// forbids it.
func (p *Podcasts) Edit(ctx context.Context, slug, id string, e Edit) (Episode, error) {
	return p.episode(ctx, slug, id, func(s *shelf, r *record) error {
		if r.State == Removed {
			return fmt.Errorf("episode %s was removed: bring it back first: %w", id, station.ErrConflict)
		}
		for _, f := range []struct {
			name, arabic string
			to           *string
			with         *string
			clean        func(string) string
			most         int
		}{
			{"title", "العنوان", &r.Title, e.Title, oneLine, mostTitle},
			{"summary", "الملخص", &r.Summary, e.Summary, lines, mostText},
			{"creator", "اسم المقدم", &r.Creator, e.Creator, oneLine, mostTitle},
		} {
			if f.with == nil {
				continue
			}
			*f.to = f.clean(*f.with)
			if n := utf8.RuneCountInString(*f.to); n > f.most {
				return tooLong(f.name, f.arabic, n, f.most)
			}
		}
		if r.Title == "" {
			return station.Wrong("title", "must not be empty", "اكتب عنوان الحلقة")
		}
		if e.Chapters != nil {
			var err error
			if r.Chapters, err = checked(*e.Chapters, r.DurationMS); err != nil {
				return err
			}
		}
		if e.Explicit != nil {
			r.Explicit = *e.Explicit
		}
		if e.Pinned != nil {
			r.Pinned = *e.Pinned
		}
		if e.State == nil || *e.State == r.State {
			return nil
		}
		switch *e.State {
		case Published:
			return s.move(r, publish, p.opt.Now())
		case Hidden:
			return s.move(r, hide, p.opt.Now())
		case Making, Failed, Held, Removed:
		}
		return station.Wrong("state", "must be published or hidden", "الحالة: منشورة أو مخفية")
	})
}

// RemoveEpisode takes an episode away; RestoreEpisode brings it back, for seven days. Then its file
// goes. Errors: station.ErrNotFound, station.ErrConflict.
func (p *Podcasts) RemoveEpisode(ctx context.Context, slug, id string) error {
	_, err := p.episode(ctx, slug, id, func(s *shelf, r *record) error {
		r.Removed = p.opt.Now().UnixMilli()
		return s.move(r, remove, p.opt.Now())
	})
	if err == nil {
		p.work.stop(slug, id)
	}
	return err
}

// RestoreEpisode brings back an episode that was removed.
func (p *Podcasts) RestoreEpisode(ctx context.Context, slug, id string) error {
	_, err := p.episode(ctx, slug, id, func(s *shelf, r *record) error {
		r.Removed = 0
		return s.move(r, bringBack, p.opt.Now())
	})
	if err == nil {
		nudge(p.ready)
	}
	return err
}

// Retry makes an episode once more that could not be made, or whose file has gone. Errors:
// station.ErrNotFound, station.ErrConflict.
func (p *Podcasts) Retry(ctx context.Context, slug, id string) error {
	_, err := p.episode(ctx, slug, id, func(s *shelf, r *record) error {
		r.tries = 0
		return s.move(r, again, p.opt.Now())
	})
	if err == nil {
		nudge(p.ready)
	}
	return err
}

// episode changes one.
func (p *Podcasts) episode(ctx context.Context, slug, id string, by func(s *shelf, r *record) error) (e Episode, err error) {
	err = p.change(ctx, slug, func(s *shelf) error {
		r := s.edit(id)
		if r == nil {
			return noEpisode(slug, id)
		}
		before := r.State
		if err := by(s, r); err != nil {
			return err
		}
		now := p.opt.Now()
		r.Changed = max(r.Changed+1, now.UnixMilli())
		if r.State == Published || before == Published {
			s.touch(now)
		}
		e = r.shown()
		return nil
	})
	return e, err
}

// move carries out an event. The error is of kind station.ErrConflict.
func (s *shelf) move(r *record, e event, now time.Time) error {
	to, ok := next(stages{r.State, r.was, r.lost}, e)
	if !ok {
		return fmt.Errorf("episode %s is %s now, which does not go with it: load it anew: %w", r.ID, r.State, station.ErrConflict)
	}
	r.State, r.was, r.lost = to.State, to.Was, to.Lost
	if r.State != Failed {
		r.again = 0
		if r.State != Removed {
			r.Problem, r.ProblemAR = "", ""
		}
	}
	if r.State == Published && r.Published == 0 {
		r.Published = s.publishAt(max(now.UnixMilli(), r.opens), r.ID)
	}
	return nil
}
