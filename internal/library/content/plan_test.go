package content

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

// A plan says what a refresh then does, and does none of it.
func TestAPlanIsWhatTheRefreshThenDoes(t *testing.T) {
	im := &imagingRig{}
	inbox := &source.Inbox{Dir: t.TempDir(), Quiet: -1}
	l := feed("english/a", "english/b", "ads/a")
	l.files["ads/a"] += " length 10"
	r := newRig(t, func(o *Options) {
		o.Imaging, o.Sources = im, []source.Source{inbox, l}
	})
	im.root, im.air = r.opt.Media, r.air
	r.put("sweepers/SWP_INTRO_1.mp3", "old")
	r.put("sweepers/SWP_VOX_1.mp3", "old too")
	r.fill(station.Jingles, 3)
	r.air.rotation, r.air.at = []string{"sweepers/SWP_VOX_1.mp3"}, 0 // on air
	file := filepath.Join(inbox.Dir, "english", "وارد.wav")
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("RIFF\x00\x00\x00\x00WAVEfmt of the inbox"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, fetched := walk(r.opt.Media), len(l.fetched)
	p, err := r.Plan(t.Context(), Request{Songs: 4, Ads: 1}, nil)
	if err != nil || len(p.Problems) > 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	if !slices.Equal(p.Inbox, []string{"english/وارد.wav"}) || len(p.Fetch) != 2 && len(p.Fetch) != 3 || p.Fetch[0].URL != "https://example.org/english/a" ||
		!slices.Equal(p.Archive, []PlannedMove{{"sweepers/SWP_INTRO_1.mp3", ReasonReplaced}}) || !slices.Equal(p.Kept, []string{"sweepers/SWP_VOX_1.mp3"}) {
		t.Errorf("%+v", p)
	}
	if !slices.Equal(walk(r.opt.Media), before) || len(l.fetched) != fetched || !exists(file) || len(r.Hidden()) > 0 {
		t.Error("a plan has done something")
	}
	res, err := r.Refresh(t.Context(), Request{Songs: 4, Ads: 1}, nil)
	for id := range l.fetched { // which may be fewer: a plan does not know which are refused
		if !slices.ContainsFunc(p.Fetch, func(f PlannedFetch) bool { return f.URL == "https://example.org/"+id }) {
			t.Errorf("%s was fetched and not planned", id)
		}
	}
	if err != nil || len(l.fetched) != 2 || res.Categories[station.Sweepers].Archived != len(p.Archive) || res.Categories[station.Sweepers].Kept != len(p.Kept) {
		t.Errorf("%+v %+v, %v; fetched %v", res, res.Categories[station.Sweepers], err, l.fetched)
	}
	if _, err := r.Plan(t.Context(), Request{Songs: -1}, nil); err == nil {
		t.Error("a wrong request is planned")
	}
}

// What lies in the inbox is taken in without a refresh, and nothing else is done.
func TestTheInboxIsTakenInByItself(t *testing.T) {
	inbox := &source.Inbox{Dir: t.TempDir(), Quiet: -1}
	l := feed("english/a")
	r := newRig(t, func(o *Options) { o.Sources = []source.Source{inbox, l} })
	if r.Waiting(t.Context()) {
		t.Error("an empty inbox has something")
	}
	if err := os.WriteFile(filepath.Join(inbox.Dir, "note.wav"), []byte("no sound at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !r.Waiting(t.Context()) {
		t.Fatal("a file is not seen")
	}
	res, err := r.Inbox(t.Context(), nil)
	if err != nil || res.Trigger != "inbox" || len(l.fetched) > 0 || r.Waiting(t.Context()) {
		t.Errorf("%+v, %v; fetched %v", res, err, l.fetched)
	}
}
