package imaging

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/athir-radio/athir/internal/sound/stinger"
)

// session holds the resources of one order.
type session struct {
	m      *Maker
	at     time.Time
	places map[string]*workplace // by deck
	booth  *booth
	songs  []Song
}

// open makes a place to work in each deck the order fills, and asks what songs
// there are if it wants any.
func (m *Maker) open(ctx context.Context, o Order) (*session, error) {
	s := &session{m: m, at: m.o.Now(), places: map[string]*workplace{}}
	voiced := o.Sweepers + o.SongDrops + o.IDs + o.VoiceDrops
	for deck, wanted := range map[string]int{sweepersDir: voiced, sfxDir: o.Stingers} {
		if wanted == 0 {
			continue
		}
		place, err := newWorkplace(filepath.Join(m.o.Dir, deck))
		if err != nil {
			s.close()
			return nil, err
		}
		s.places[deck] = place
	}
	if voiced > 0 {
		s.booth = &booth{voice: m.o.Voice, dir: s.places[sweepersDir].path, takes: map[string]func() (take, error){}}
	}
	if m.o.Songs != nil && o.Sweepers+o.SongDrops > 0 {
		songs, err := m.o.Songs(ctx)
		if err != nil {
			m.o.Log.Warn("imaging made without songs: cannot list them", "err", err)
		}
		s.songs = worthCutting(songs)
	}
	return s, nil
}

func (s *session) close() {
	for _, place := range s.places {
		place.close()
	}
}

// asset makes one item and puts it into its deck.
func (s *session) asset(ctx context.Context, it item) (Asset, error) {
	if ctx.Err() != nil {
		return Asset{}, context.Cause(ctx)
	}
	a := Asset{Kind: it.kind, Design: it.designName(), Seed: it.seed}
	m, err := s.mix(ctx, it, &a)
	if err != nil {
		return Asset{}, err
	}
	if err := s.finish(ctx, it, m, &a); err != nil {
		return Asset{}, err
	}
	return a, nil
}

// finish masters a mix, puts it into its deck, and completes a.
func (s *session) finish(ctx context.Context, it item, m mixdown, a *Asset) error {
	path, made, err := s.places[it.deck()].place(ctx, s.m.o.Master, it, s.at, m.out)
	if err != nil {
		return err
	}
	a.Path, a.Duration, a.LUFS, a.DBTP = path, made.Duration, made.Integrated, made.TruePeak
	return nil
}

// mix makes an item's sound, and records its choices in a.
func (s *session) mix(ctx context.Context, it item, a *Asset) (mixdown, error) {
	switch it.kind {
	case Sweeper, SongDrop:
		return s.sweeper(ctx, it, a)
	case VoiceDrop:
		return s.voiceDrop(ctx, it, a)
	case ID:
		return s.id(ctx, it, a)
	case Stinger:
		return mixdown{out: stinger.Make(it.design, uint64(it.seed))}, nil
	}
	return mixdown{}, fmt.Errorf("there is no kind %q", it.kind)
}
