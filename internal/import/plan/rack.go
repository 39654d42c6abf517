package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/onair/rotation"
)

// rack finds playlists that are there.
type rack struct {
	all   []List
	byID  map[int64]*List
	taken map[string]bool // folded names
	used  map[int64]bool  // those that are one of the source's
}

func newRack(all []List) *rack {
	r := &rack{all, map[int64]*List{}, map[string]bool{}, map[int64]bool{}}
	for i := range all {
		r.byID[all[i].ID] = &all[i]
		r.taken[rotation.Fold(all[i].Name)] = true
	}
	return r
}

// remember goes by what an earlier run did of a playlist.
func (out *Playlist) remember(made Made, here *rack) {
	if made.Name == "" || made.From != out.From {
		return
	}
	now := here.byID[made.ID]
	if made.ID != 0 && now == nil {
		out.not("An earlier import brought it, and it was deleted here since.", "نقلها استيراد سابق ثم حُذفت هنا.")
		return
	}
	out.named, out.Settings.Name = true, made.Name
	if out.unmade = now == nil; out.unmade { // its name is its own already
		here.taken[rotation.Fold(made.Name)] = true
		return
	}
	out.Settings.Name, here.used[now.ID] = now.Name, true
	if !made.Done {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(out.Items), func(id string) bool { return !slices.Contains(made.Lacks, id) })
	if len(rest) == 0 {
		out.Do = There
		return
	}
	out.Rest, out.Items = true, rest
	out.note(fmt.Sprintf("Tracks of it whose files an earlier import lacked come now, at its end: %d.", len(rest)), fmt.Sprintf("مقاطع لم تتوفر ملفاتها في استيراد سابق، وتُضاف الآن إلى آخرها: %d.", len(rest)))
}

// match finds a playlist of the name that plays the same: another file of the same station, or its
// address, brought it.
func (out *Playlist) match(l *model.Playlist, here *rack) {
	for i := range here.all {
		h := &here.all[i]
		if here.used[h.ID] || !numbered(h.Name, out.Settings.Name) {
			continue
		}
		theirs, ours := h.Settings, out.Settings
		theirs.Share, ours.Share = 0, 0 // it goes by which others there are
		if l.Minutes > 0 {              // and this by how long the songs are
			theirs.EverySongs, ours.EverySongs = 0, 0
		}
		if !theirs.PlaysAs(ours) || h.Kind == "hand" && (h.Tracks == 0 || h.Tracks < len(out.Items) && h.On != out.Settings.On) { // not complete
			continue
		}
		here.used[h.ID] = true
		out.Do, out.named, out.Settings.Name = There, true, h.Name
		out.note("A playlist of this name that plays the same is there; it stays as it is.", "توجد هنا قائمة بهذا الاسم تُذاع بالطريقة نفسها، وتبقى كما هي.")
		return
	}
}

// numbered reports a name, or that with a number.
func numbered(name, of string) bool {
	if rotation.Fold(name) == rotation.Fold(of) {
		return true
	}
	before, end, ok := strings.Cut(strings.TrimSuffix(name, ")"), " (")
	for ok && strings.Contains(end, " (") {
		var more string
		more, end, ok = strings.Cut(end, " (")
		before += " (" + more
	}
	_, err := strconv.Atoi(end)
	return err == nil && rotation.Fold(before) == rotation.Fold(of)
}

// PlaysAs reports settings of the same kind that play the same, on or off, under any name.
func (s Settings) PlaysAs(o Settings) bool {
	return s.told() == o.told()
}

// told is what of settings their kind and way of playing use.
func (s Settings) told() string {
	s.Name, s.Note, s.EveryMinutes, s.On = "", "", 0, false
	if s.Kind != "smart" {
		s.Query = nil
	}
	if s.Kind != "remote" {
		s.Address = ""
	}
	if s.Plays != rotation.PlaysShare {
		s.Share = 0
	}
	if s.Plays != rotation.PlaysSongs {
		s.EverySongs = 0
	}
	if s.Plays != rotation.PlaysHourly {
		s.Minute = 0
	}
	if len(s.When) == 0 {
		s.When = []rotation.Window{}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return "" // a query that cannot be written can neither be made
	}
	return string(text)
}

// limit keeps to how many playlists there can be: those that are on and have a time go first.
func (p *Plan) limit(here *rack) {
	n := len(here.all)
	var fresh []*Playlist
	for i := range p.Playlists {
		switch out := &p.Playlists[i]; {
		case out.Do == Bring && !out.named:
			fresh = append(fresh, out)
		case out.Do == Bring && out.unmade:
			n++
		}
	}
	rank := func(out *Playlist) int {
		switch {
		case out.Settings.On && len(out.Settings.When) > 0:
			return 0
		case out.Settings.On:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(fresh, func(x, y *Playlist) int { return cmp.Compare(rank(x), rank(y)) })
	for _, out := range fresh[min(len(fresh), max(0, mostLists-n)):] {
		out.not(fmt.Sprintf("There can be %d playlists: delete some, and import again.", mostLists), fmt.Sprintf("الحد الأقصى %d قائمة تشغيل. احذف بعضها ثم أعد الاستيراد.", mostLists))
	}
}

// shares are the percentages of playlists that play by weight: of those that are on and come, they
// are 100 together.
func (p *Plan) shares(all []model.Playlist) {
	counts := func(out *Playlist) bool { return out.Do != Not && out.Settings.Plays == rotation.PlaysShare }
	sum := 0
	for i := range p.Playlists {
		if out := &p.Playlists[i]; counts(out) && out.Settings.On {
			sum += max(all[i].Weight, 1)
		}
	}
	var last *Settings
	used := 0
	for i := range p.Playlists {
		s := &p.Playlists[i].Settings
		if !counts(&p.Playlists[i]) {
			continue
		}
		if s.Share = min(100, max(1, 100*max(all[i].Weight, 1)/max(sum, 1))); s.On {
			last, used = s, used+s.Share
		}
	}
	if last != nil && used < 100 { // what rounding lost
		last.Share += 100 - used
	}
}

// AnotherName is a name with a number that none of the taken ones is.
func AnotherName(name string, taken []string) string {
	all := map[string]bool{}
	for _, t := range taken {
		all[rotation.Fold(t)] = true
	}
	return unique(name, all)
}
