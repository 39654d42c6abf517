package app

import (
	"context"
	"log/slog"

	"github.com/athir-radio/athir/internal/library/imaging"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/speech"
)

// NewImaging opens a maker of imaging that has the voices of an order and a
// mastering desk. What fails about a voice goes to the log of voices.
func NewImaging(order speech.Order, voices *slog.Logger, o imaging.Options) (*imaging.Maker, error) {
	booth, err := openBooth(order, voices)
	if err != nil {
		return nil, err
	}
	o.Voice, o.Master = tagVoice{booth}, imagingDesk{mastering.New(mastering.Options{Log: o.Log})}
	return imaging.New(o)
}

// tagVoice is the voice booth as imaging knows it.
type tagVoice struct{ booth *speech.Booth }

func (v tagVoice) Say(ctx context.Context, text string) (imaging.Spoken, error) {
	clip, err := v.booth.Say(ctx, text)
	return imaging.Spoken{WAV: clip.WAV, Voice: clip.Voice}, err
}

// imagingDesk is the mastering desk as imaging knows it.
type imagingDesk struct{ master *mastering.Master }

func (d imagingDesk) Master(ctx context.Context, in, out string, tags map[string]string) (imaging.Mastered, error) {
	rec, err := masterOwn(ctx, d.master, in, out, tags)
	return imaging.Mastered{LUFS: rec.Integrated, DBTP: rec.TruePeak, Duration: rec.Duration}, err
}
