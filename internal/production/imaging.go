package production

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/imaging"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/station"
)

// ImagingOrder says what imaging is made; the numbers are of files.
type ImagingOrder struct {
	Sweepers, SongDrops, IDs, VoiceDrops, Stingers int
	// ArchiveOld archives the old files of the same kinds.
	ArchiveOld bool
}

// ImagingMade is what came of an imaging order.
type ImagingMade struct {
	Made     []ImagingAsset   `json:"made"`
	Failed   []ImagingFailure `json:"failed"`
	Archived int              `json:"archived" doc:"Old files that left their decks"`
	Kept     int              `json:"kept" doc:"Old files that are on air or about to be: archived another time"`
	Rebuilt  bool             `json:"rebuilt" doc:"The rotation was built anew and pushed"`
	Problem  string           `json:"problem" doc:"Why old files stayed or the rotation is the old one; empty when all is well"`
}

// ImagingAsset is a file that was made.
type ImagingAsset struct {
	File       string  `json:"file" doc:"Relative to the media root"`
	Kind       string  `json:"kind"`
	Design     string  `json:"design,omitempty"`
	Text       string  `json:"text,omitempty" doc:"What is said"`
	Voice      string  `json:"voice,omitempty" doc:"Who says it"`
	Song       string  `json:"song,omitempty" doc:"The song its bed was cut from"`
	DurationMS int64   `json:"durationMs"`
	LUFS       float64 `json:"lufs" doc:"Integrated loudness, LUFS"`
	DBTP       float64 `json:"dbtp" doc:"True peak, dBTP"`
}

// ImagingFailure is a file that could not be made.
type ImagingFailure struct {
	Kind   string `json:"kind"`
	Design string `json:"design,omitempty"`
	Error  string `json:"error"`
}

// UsualImaging is an order of each kind: of the stingers, each design once.
func UsualImaging() ImagingOrder {
	return ImagingOrder{Sweepers: 6, SongDrops: 4, IDs: 4, VoiceDrops: 4, Stingers: 16, ArchiveOld: true}
}

// Imaging makes what is ordered and plans it. An error means that nothing could be
// made, or that the order was cancelled; Problem says why files that were made are
// not planned.
func (p *Production) Imaging(ctx context.Context, o ImagingOrder, show func(jobs.Progress)) (ImagingMade, error) {
	var old []string
	if o.ArchiveOld {
		all, err := imaging.Old(p.root)
		if err != nil {
			return ImagingMade{}, err
		}
		old = slices.DeleteFunc(all, func(path string) bool { return !replaced(o, path) })
	}
	r, err := p.image(ctx, o, show)
	out := made(r)
	if len(r.Made) == 0 {
		return out, cmp.Or(err, errors.New("nothing could be made"))
	}
	if len(r.Failed) > len(r.Made) {
		old = nil // too few new files to replace a deck
	}
	if ctx.Err() != nil {
		return out, ctx.Err() // cancelled: the folder watch finds what was made, and the old files stay
	}
	moved, rebuilt, wrong := p.takeUp(ctx, pathsOf(r.Made), old, content.ReasonReplaced, func(step string, ready int) {
		now := jobs.Progress{Step: step, Done: ready, Total: len(r.Made)}
		if step == stepScan {
			now.Detail = "made; waiting for the library"
		}
		show(now)
	})
	out.Archived, out.Kept, out.Rebuilt = len(moved.Archived), len(moved.Kept), rebuilt
	if wrong != nil {
		p.log.Error("imaging made, but not fully put on air", "err", wrong)
		out.Problem = station.Reason(wrong)
	}
	return out, ctx.Err()
}

// image makes an order.
func (p *Production) image(ctx context.Context, o ImagingOrder, show func(jobs.Progress)) (imaging.Result, error) {
	if err := media.Present(p.root, len(p.lib.Snapshot().Tracks)); err != nil {
		return imaging.Result{}, err
	}
	order := imaging.Order{
		Sweepers: o.Sweepers, SongDrops: o.SongDrops, IDs: o.IDs, VoiceDrops: o.VoiceDrops, Stingers: o.Stingers, Seed: rand.Uint64(),
	}
	return p.imaging.Make(ctx, order, func(now imaging.Progress) {
		at := jobs.Progress{Step: "imaging", Done: now.Done, Total: now.Of}
		if now.Asset != nil {
			at.Detail = now.Asset.Path
		}
		show(at)
	})
}

// replaced reports that an order makes new files of the kind of path.
func replaced(o ImagingOrder, path string) bool {
	name := filepath.Base(path)
	switch {
	case strings.HasPrefix(name, "SFX_"):
		return o.Stingers > 0
	case strings.HasPrefix(name, "ID_"):
		return o.IDs > 0
	}
	return o.Sweepers+o.SongDrops+o.VoiceDrops > 0
}

func pathsOf(assets []imaging.Asset) []string {
	out := make([]string, len(assets))
	for i, a := range assets {
		out[i] = a.Path
	}
	return out
}

func made(r imaging.Result) ImagingMade {
	out := ImagingMade{Made: []ImagingAsset{}, Failed: []ImagingFailure{}}
	for _, a := range r.Made {
		item := ImagingAsset{
			File: a.Path, Kind: string(a.Kind), Design: a.Design, Text: a.Text, Voice: a.Voice,
			DurationMS: a.Duration.Milliseconds(), LUFS: thousandths(a.LUFS), DBTP: thousandths(a.DBTP),
		}
		if a.Song != nil {
			item.Song = a.Song.Title
		}
		out.Made = append(out.Made, item)
	}
	for _, f := range r.Failed {
		out.Failed = append(out.Failed, ImagingFailure{Kind: string(f.Kind), Design: f.Design, Error: f.Err.Error()})
	}
	return out
}
