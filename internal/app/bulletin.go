package app

import (
	"context"
	"log/slog"
	"math"

	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/speech"
)

// NewBulletin opens a maker of bulletins that has the voices of an order and a
// mastering desk. What fails about a voice goes to the log of voices.
func NewBulletin(order speech.Order, voices *slog.Logger, o bulletin.Options) (*bulletin.Maker, error) {
	booth, err := openBooth(order, voices)
	if err != nil {
		return nil, err
	}
	o.Voice, o.Master = announcer{booth}, desk{mastering.New(mastering.Options{Log: o.Log})}
	return bulletin.New(o)
}

// announcer is the voice booth as the bulletin knows it.
type announcer struct{ booth *speech.Booth }

func (a announcer) SayAll(ctx context.Context, texts []string) []bulletin.Spoken {
	var out []bulletin.Spoken
	for _, c := range a.booth.SayAll(ctx, texts) {
		out = append(out, bulletin.Spoken{WAV: c.WAV, Voice: c.Voice, Err: c.Err})
	}
	return out
}

// openBooth opens the voices of an order.
func openBooth(o speech.Order, log *slog.Logger) (*speech.Booth, error) {
	steps, err := o.Steps()
	if err != nil {
		return nil, err
	}
	return speech.New(speech.Options{Steps: steps, Log: log})
}

// masterOwn masters what the station has made itself.
func masterOwn(ctx context.Context, m *mastering.Master, in, out string, tags map[string]string) (mastering.Record, error) {
	profile, err := mastering.Named(mastering.Station)
	if err != nil {
		return mastering.Record{}, err
	}
	return m.Do(ctx, mastering.Job{In: in, Out: out, Profile: profile, Tags: tags, Again: true}, nil)
}

// desk is the mastering desk as the bulletin knows it.
type desk struct{ master *mastering.Master }

func (d desk) Master(ctx context.Context, in, out string, tags map[string]string) (bulletin.Loudness, error) {
	rec, err := masterOwn(ctx, d.master, in, out, tags)
	return bulletin.Loudness{LUFS: rec.Integrated, DBTP: rec.TruePeak}, err
}

// thousandths rounds to three decimals: what is finer was not measured.
func thousandths(f float64) float64 { return math.Round(f*1000) / 1000 }
