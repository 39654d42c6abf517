package libretime

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/import/model"
)

// opener fills in how a track's file is opened, and its size.
type opener func(*model.Track)

// beside finds files in a folder.
func beside(media fs.FS) opener {
	return func(t *model.Track) {
		if info, err := fs.Stat(media, t.Path); err == nil && info.Mode().IsRegular() {
			t.Size = info.Size()
			t.Open = func() (io.ReadCloser, error) { return media.Open(t.Path) }
		}
	}
}

// reading makes a station of what its database has.
type reading struct {
	db   *database
	open opener
	now  time.Time

	zone   *time.Location
	ahead  map[string]*show // shows still to come, by id
	tracks map[string]bool  // ids of those that come over
	left   map[string]*model.Left
	kinds  []string // of left, in order
}

func (r *reading) station() *model.Station {
	r.left, r.tracks = map[string]*model.Left{}, map[string]bool{}
	st := &model.Station{System: System, Close: func() error { return nil }}
	prefs := map[string]string{}
	for p := range r.db.each("cc_pref") {
		if p.raw("subjid") == "" {
			prefs[p.raw("keystr")] = p.str("valstr")
		}
	}
	st.Name, st.Version = prefs["station_name"], prefs["system_version"]
	r.zone = r.zoneOf(prefs["timezone"])
	if r.zone != time.UTC {
		st.Zone = r.zone.String()
	}
	r.ahead = r.shows()
	st.Tracks = r.files()
	st.Playlists = r.playlists(prefs)
	st.Streamers = r.streamers()
	r.counts()
	for _, k := range r.kinds {
		st.Left = append(st.Left, *r.left[k])
	}
	return st
}

// leave counts things that do not come over.
func (r *reading) leave(kind string, n int, reason model.Note) {
	if n == 0 {
		return
	}
	if r.left[kind] == nil {
		r.left[kind] = &model.Left{Kind: kind, Reason: reason}
		r.kinds = append(r.kinds, kind)
	}
	r.left[kind].Count += n
}

// zoneOf is the station's time zone: that of its settings, which LibreTime 4 keeps in a file,
// or the one that most of its shows have.
func (r *reading) zoneOf(set string) *time.Location {
	shows := map[string]int{}
	for d := range r.db.each("cc_show_days") {
		shows[d.str("timezone")]++
	}
	names := []string{set}
	for n := range shows {
		names = append(names, n)
	}
	slices.SortFunc(names[1:], func(a, b string) int { return cmp.Or(cmp.Compare(shows[b], shows[a]), strings.Compare(a, b)) })
	for _, n := range names {
		if n != "" && n != "Local" {
			if zone, err := time.LoadLocation(n); err == nil {
				return zone
			}
		}
	}
	return time.UTC
}

// files are the tracks that can air, in the order of their paths.
func (r *reading) files() (out []model.Track) {
	lost := map[string]bool{} // LibreTime knows that the file is gone
	types, dirs := map[string]string{}, map[string]string{}
	for t := range r.db.each("cc_track_types") {
		types[t.raw("id")], types[t.raw("code")] = t.str("type_name"), t.str("type_name")
	}
	for d := range r.db.each("cc_music_dirs") {
		if d.raw("type") == "stor" {
			dirs[d.raw("id")] = d.raw("directory")
		}
	}
	for f := range r.db.each("cc_files") {
		if f.bool("hidden") || f.int("import_status") != 0 {
			r.leave("pending files", 1, note("They were deleted, or their import there never finished.", "حُذفت، أو لم يكتمل استيرادها هناك."))
			continue
		}
		name := strings.TrimPrefix(f.raw("filepath"), dirs[f.raw("directory")])
		name = strings.TrimPrefix(name, "/")
		if !validPath(name) || f.raw("id") == "" || r.tracks[f.raw("id")] {
			r.leave("unusable files", 1, note("Their paths cannot be used: rename them and import again.", "مساراتها غير صالحة. أعد تسميتها ثم كرر الاستيراد."))
			continue
		}
		t := model.Track{
			ID: f.raw("id"), Path: name, Title: f.str("track_title"), Artist: f.str("artist_name"), Album: f.str("album_title"), Genre: f.str("genre"),
			Lyrics: clean(f.raw("lyrics"), mostLyrics), ISRC: f.str("isrc_number"), Length: interval(f.raw("length")),
			CueIn: interval(f.raw("cuein")), CueOut: interval(f.raw("cueout")), Kind: cmp.Or(types[f.raw("track_type_id")], types[f.raw("track_type")]),
			Size: int64(max(f.int("filesize"), 0)),
		}
		if gain, err := strconv.ParseFloat(f.raw("replay_gain"), 64); err == nil && math.Abs(gain) <= 60 {
			t.Gain = gain
		}
		cues(&t)
		lost[t.ID] = f.raw("file_exists") != "" && !f.bool("file_exists")
		out = append(out, t)
		r.tracks[t.ID] = true
	}
	slices.SortStableFunc(out, func(a, b model.Track) int { return strings.Compare(a.Path, b.Path) })
	if r.open != nil {
		for i := range out {
			if !lost[out[i].ID] {
				r.open(&out[i])
			}
		}
	}
	return out
}

// validPath reports a path of a file within a folder, that nothing leads out of.
func validPath(p string) bool {
	return fs.ValidPath(p) && p != "." && len(p) <= mostText && !strings.ContainsAny(p, "\x00\\\n\r") && !strings.HasPrefix(path.Base(p), ".")
}

// cues leaves out those that say nothing: a track is heard from its beginning, and to its end.
// LibreTime measures both to the microsecond.
func cues(t *model.Track) {
	const same = 10 * time.Millisecond
	if t.Length > 0 && t.CueOut >= t.Length-same {
		t.CueOut = 0
	}
	end := t.CueOut
	if end == 0 {
		end = t.Length
	}
	if t.CueIn < same || end > 0 && t.CueIn >= end {
		t.CueIn = 0
	}
	if t.CueOut > 0 && t.CueOut <= t.CueIn {
		t.CueOut = 0
	}
}

// streamers are the people who host shows. Who hosts none does not go live.
func (r *reading) streamers() (out []model.Streamer) {
	shows := r.ahead
	hosted := map[string][]string{} // of a user, the shows
	for h := range r.db.each("cc_show_hosts") {
		if user, show := h.raw("subjs_id"), h.raw("show_id"); shows[show] != nil && !slices.Contains(hosted[user], show) {
			hosted[user] = append(hosted[user], show)
		}
	}
	known := map[string]bool{}
	for u := range r.db.each("cc_subjs") {
		known[u.raw("id")] = true
		login := u.str("login")
		mine := hosted[u.raw("id")]
		if len(mine) == 0 || login == "" {
			r.leave("users", 1, note("They host no show: invite those who are to work in the studio.", "لا يقدّمون أي برنامج. ادعُ من سيعمل منهم في الاستوديو."))
			continue
		}
		s := model.Streamer{Login: login, Name: strings.TrimSpace(u.str("first_name") + " " + u.str("last_name"))}
		var names []string
		for _, id := range mine {
			names = append(names, shows[id].name)
			s.When = append(s.When, shows[id].when...)
		}
		s.Comment, s.When = strings.Join(names, ", "), merged(s.When)
		out = append(out, s)
	}
	for user := range hosted {
		if !known[user] {
			r.leave("streamers", 1, note("Only an administrator can read who they are: import with an administrator's login, or from a dump.", "لا تُعرض هويتهم إلا للمدير. استورد بحساب مدير أو من ملف قاعدة البيانات."))
		}
	}
	return out
}

// counts says what else there is.
func (r *reading) counts() {
	n := func(table string) int { return r.db.counts[table] }
	r.leave("schedule", n("cc_schedule"), note("What was laid out by hand does not come over; the rotation and the playlists plan what airs.", "ما رُتّب يدويًا في الجدول لا يُنقل، فما يُذاع هنا يحدّده البرنامج وقوائم التشغيل."))
	r.leave("rebroadcasts", n("cc_show_rebroadcast"), note("Give the playlist another time instead.", "أضف موعدًا آخر إلى قائمة التشغيل بدلًا منها."))
	r.leave("podcasts", n("podcast"), note("Podcasts do not come over; their episodes that are in the media folder do.", "البودكاست لا يُنقل، أما حلقاته الموجودة في مجلد الوسائط فتُنقل."))
	r.leave("history", n("cc_playout_history"), note("What has aired stays in LibreTime.", "سجلّ ما بُث يبقى في LibreTime."))
	r.leave("listeners", n("cc_listener_count"), note("Figures of listeners stay in LibreTime.", "أرقام المستمعين تبقى في LibreTime."))
	recorded := 0
	for d := range r.db.each("cc_show_days") {
		if d.bool("record") {
			recorded++
		}
	}
	r.leave("recordings", recorded, note("Recordings are set up for the whole station here.", "التسجيل يُضبط هنا للمحطة كلها."))
	logins := 0
	for s := range r.db.each("cc_show") {
		if s.bool("live_stream_using_custom_auth") {
			logins++
		}
	}
	r.leave("source logins", logins, note("Give each presenter a login of their own.", "امنح كل مقدّم بيانات دخول خاصة به."))
	streams := 0
	for range r.db.each("cc_webstream") {
		streams++
	}
	r.leave("webstreams", streams, note("Set up those that are still needed as a live input.", "أضف ما تحتاج إليه منها مصدرًا للبث المباشر."))
}

// plural is a number with what is counted.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
