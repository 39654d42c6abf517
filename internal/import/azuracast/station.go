package azuracast

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/import/model"
)

// fromDump makes a station of a backup.
func fromDump(b *bundle, from Source) (*model.Station, error) {
	d := b.dump
	var all []row
	var names [][2]string
	d.tables["station"].each(func(r row) {
		all = append(all, r)
		names = append(names, [2]string{r.str("name"), r.str("short_name")})
	})
	i, err := chosen(from.Station, names)
	if err != nil {
		return nil, err
	}
	r := all[i]
	st := &model.Station{System: System, ID: strconv.Itoa(r.int("id")), Name: r.str("name"), Zone: r.str("timezone"), Close: b.close}
	for j, n := range names {
		if j != i {
			st.Others = append(st.Others, n[0])
		}
	}
	id := r.int("id")
	files := newMediaFolder(b, d.mediaPath(r), from.Media)
	var known map[int]string
	st.Tracks, known = d.tracks(r, files)
	files.sort(st.Tracks)
	st.Playlists = d.playlists(id, known)
	st.Streamers = d.streamers(id)
	st.Webhooks = d.webhooks(id)
	st.Left = d.left()
	return st, nil
}

// mediaPath is the folder of a station's media, as its server had it.
func (d *dump) mediaPath(st row) string {
	out := ""
	at := st.int("media_storage_location_id")
	d.tables["storage_location"].each(func(r row) {
		if r.int("id") == at && (r.str("adapter") == "local" || r.str("adapter") == "") {
			out = r.cell("path").text
		}
	})
	if out == "" {
		out = cmp.Or(st.cell("radio_media_dir").text, strings.TrimSuffix(st.cell("radio_base_dir").text, "/")+"/media")
	}
	return out
}

// tracks are those of a station, and known is which of them a row of the table is: several with one
// path are one file, which is read once.
func (d *dump) tracks(st row, files *mediaFolder) (out []model.Track, known map[int]string) {
	media := d.tables["station_media"]
	known = map[int]string{}
	ofPath := map[string]string{}
	owner, own := "storage_location_id", st.int("media_storage_location_id")
	if !media.has(owner) {
		owner, own = "station_id", st.int("id")
	}
	media.each(func(r row) {
		if r.int(owner) != own {
			return
		}
		id, at := r.int("id"), strings.TrimPrefix(r.cell("path").text, "/")
		if first, again := ofPath[at]; again {
			known[id] = first
			return
		}
		known[id], ofPath[at] = strconv.Itoa(id), strconv.Itoa(id)
		t := model.Track{
			ID: strconv.Itoa(id), Path: at,
			Title: r.str("title"), Artist: r.str("artist"), Album: r.str("album"), Genre: r.str("genre"), Lyrics: r.str("lyrics"), ISRC: r.str("isrc"),
			Length: seconds(r.float("length")),
		}
		e := extra{}
		for _, column := range []string{"amplify", "cue_in", "cue_out", "fade_overlap", "fade_start_next", "cross_start_next"} {
			if c := r.cell(column); !c.null {
				e[column] = json.RawMessage(c.text)
			}
		}
		_ = json.Unmarshal([]byte(r.cell("extra_metadata").text), &e) // of no track that has none
		cues(&t, e)
		files.find(&t)
		out = append(out, t)
	})
	return out, known
}

type item struct {
	media, weight, id int
}

// playlists are a station's, with their tracks in order.
func (d *dump) playlists(station int, known map[int]string) (out []model.Playlist) {
	items, times, folders := map[int][]item{}, map[int][]schedule{}, map[int]int{}
	d.tables["station_playlist_media"].each(func(r row) {
		if m := r.int("media_id"); known[m] != "" {
			p := r.int("playlist_id")
			items[p] = append(items[p], item{m, r.int("weight"), r.int("id")})
		}
	})
	d.tables["station_playlist_folders"].each(func(r row) { folders[r.int("playlist_id")]++ })
	d.tables["station_schedules"].each(func(r row) {
		if !r.cell("playlist_id").null {
			times[r.int("playlist_id")] = append(times[r.int("playlist_id")], scheduleOf(r))
		}
	})
	d.tables["station_playlists"].each(func(r row) {
		if r.int("station_id") != station {
			return
		}
		l := list{
			ID: r.int("id"), Name: r.str("name"), Type: r.str("type"), Source: r.str("source"), Order: r.str("playback_order"),
			RemoteURL: r.str("remote_url"), RemoteType: r.str("remote_type"), Enabled: r.bool("is_enabled"), Jingle: r.bool("is_jingle"),
			PerSongs: r.int("play_per_songs"), PerMinutes: r.int("play_per_minutes"), HourMinute: r.int("play_per_hour_minute"), Weight: r.int("weight"),
			Options: strings.Split(r.str("backend_options"), ","), ScheduleItems: times[r.int("id")], folders: folders[r.int("id")],
		}
		mine := items[l.ID]
		slices.SortStableFunc(mine, func(x, y item) int { return cmp.Or(cmp.Compare(x.weight, y.weight), cmp.Compare(x.id, y.id)) })
		for _, one := range mine {
			l.items = append(l.items, known[one.media])
		}
		out = append(out, l.playlist())
	})
	return out
}

func scheduleOf(r row) schedule {
	return schedule{
		Start: r.int("start_time"), End: r.int("end_time"), From: r.str("start_date"), Until: r.str("end_date"), Days: daysOf(r.str("days")), LoopOnce: r.bool("loop_once"),
	}
}

func (d *dump) streamers(station int) (out []model.Streamer) {
	times := map[int][]schedule{}
	d.tables["station_schedules"].each(func(r row) {
		if !r.cell("streamer_id").null {
			times[r.int("streamer_id")] = append(times[r.int("streamer_id")], scheduleOf(r))
		}
	})
	d.tables["station_streamers"].each(func(r row) {
		if r.int("station_id") != station {
			return
		}
		s := model.Streamer{Login: r.str("streamer_username"), Name: r.str("display_name"), Comment: r.str("comments"), Off: !r.bool("is_active")}
		s.When, _ = windows(times[r.int("id")])
		out = append(out, s)
	})
	return out
}

func (d *dump) webhooks(station int) (out []model.Webhook) {
	d.tables["station_webhooks"].each(func(r row) {
		if r.int("station_id") != station {
			return
		}
		h := hook{Name: r.str("name"), Type: r.str("type"), Enabled: r.bool("is_enabled")}
		_ = json.Unmarshal([]byte(r.cell("triggers").text), &h.Triggers) // without: none
		_ = json.Unmarshal([]byte(r.cell("config").text), &h.Config)
		out = append(out, h.webhook())
	})
	return out
}

// hook is a webhook, in a dump and in the API.
type hook struct {
	Name     string         `json:"name"`
	Type     string         `json:"type"`
	Enabled  bool           `json:"is_enabled"`
	Triggers []string       `json:"triggers"`
	Config   map[string]any `json:"config"`
}

func (h hook) webhook() model.Webhook {
	address, _ := h.Config["webhook_url"].(string)
	out := model.Webhook{Name: clean(h.Name), Type: clean(h.Type), Off: !h.Enabled, Address: strings.TrimSpace(address)}
	for _, t := range h.Triggers {
		out.Events = append(out.Events, clean(t))
	}
	return out
}

// left counts what has no counterpart here.
func (d *dump) left() (out []model.Left) {
	for _, l := range []struct {
		table, kind string
		why         model.Note
	}{
		{"station_mounts", "mounts", model.Note{En: "The station has one stream of its own, in the qualities of its settings.", Ar: "للمحطة بثّها الخاص، وجودته في إعداداتها."}},
		{"station_remotes", "relays", model.Note{En: "Set the relays up again with this station's stream.", Ar: "أعد ضبطها على بث هذه المحطة."}},
		{"station_hls_streams", "hls", model.Note{En: "HLS is always there, and needs no setting up.", Ar: "بث HLS متاح دائمًا دون إعداد."}},
		{"station_requests", "requests", model.Note{En: "Open requests stay there: they were made of the other station's programme.", Ar: "تبقى الطلبات المعلّقة هناك، فهي من برنامج المحطة الأخرى."}},
		{"song_history", "history", model.Note{En: "What aired before the move stays where it was.", Ar: "سجلّ ما بُث قبل الانتقال يبقى في مكانه."}},
		{"listener", "listeners", model.Note{En: "Data of listeners does not come over: their addresses are personal.", Ar: "لا تُنقل بيانات المستمعين لأن عناوينهم بيانات شخصية."}},
		{"podcast", "podcasts", model.Note{En: "There are no podcasts here.", Ar: "لا يوجد بودكاست هنا."}},
		{"sftp_user", "sftp", model.Note{En: "Files are uploaded in the studio.", Ar: "تُرفع الملفات من الاستوديو."}},
		{"users", "users", model.Note{En: "Invite the users again: under People in the studio, or with athir people add.", Ar: "ادعُهم من جديد من قسم المستخدمين في الاستوديو، أو بالأمر athir people add."}},
		{"custom_field", "fields", model.Note{En: "Tracks have no custom fields here.", Ar: "لا توجد حقول مخصصة للمقاطع هنا."}},
		{"station_streamer_broadcasts", "recordings", model.Note{En: "Recordings of broadcasts stay where they were.", Ar: "تبقى تسجيلات البث في مكانها."}},
	} {
		if n := d.counts[l.table]; n > 0 {
			out = append(out, model.Left{Kind: l.kind, Count: n, Reason: l.why})
		}
	}
	return out
}
