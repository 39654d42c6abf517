package importtest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Libre is a LibreTime 4.5 with what a station of some years has in its database.
type Libre struct {
	tables []libreTable
	Files  map[int][]byte // of a track's id, what its file has
}

// libreTable is a table as PostgreSQL has it. Values are nil, int, bool, float64 or string.
type libreTable struct {
	name    string
	columns []string // name and type
	rows    [][]any
}

// LibreForm is a way in which pg_dump writes rows.
type LibreForm int

// The forms: COPY, --inserts, and --column-inserts with --rows-per-insert.
const (
	LibreCopy LibreForm = iota
	LibreInserts
	LibreColumnInserts
)

// NewLibre makes a station of so many tracks, 12 at least. Track 7 was deleted, the import of 8
// failed, the path of 9 leads out of the folder, the file of 10 is lost, and 11 has a title with
// all that a dump has to escape.
func NewLibre(tracks int) *Libre {
	l := &Libre{Files: map[int][]byte{}}
	var files [][]any
	for i := 1; i <= tracks; i++ {
		files = append(files, l.file(i))
	}
	l.add("cc_block", "id integer, name character varying(255), mtime timestamp(6) without time zone, utime timestamp(6) without time zone, creator_id integer, description character varying(512), length interval, type character varying(7)",
		[]any{1, "طرب", nil, nil, 1, nil, "01:00:00", "dynamic"}, []any{2, "Fixed", nil, nil, 1, nil, "00:10:00", "static"}, []any{3, "New rock", nil, nil, 1, nil, "00:00:00", "dynamic"})
	l.add("cc_blockcontents", "id integer, block_id integer, file_id integer, \"position\" integer, trackoffset double precision, cliplength interval, cuein interval, cueout interval, fadein time without time zone, fadeout time without time zone",
		[]any{1, 2, 4, 1, 0, "00:03:20", "00:00:00", "00:03:20", "00:00:00.5", "00:00:00.5"}, []any{2, 2, 3, 0, 0, "00:03:20", "00:00:00", "00:03:20", "00:00:00.5", "00:00:00.5"})
	l.add("cc_blockcriteria", "id integer, criteria character varying(32), modifier character varying(16), value character varying(512), extra character varying(512), criteriagroup integer, block_id integer",
		[]any{1, "genre", "is", "طرب", nil, 0, 1}, []any{2, "genre", "is", "Classic", nil, 0, 1}, []any{3, "track_title", "contains", "ليل", nil, 1, 1}, []any{4, "bpm", "is in the range", "90", "120", 2, 1},
		[]any{5, "limit", "hours", "1", nil, nil, 1}, []any{6, "repeat_tracks", "N/A", "0", nil, nil, 1}, []any{7, "sort", "N/A", "random", nil, nil, 1},
		[]any{8, "utime", "after", "1 month ago", nil, 0, 3}, []any{9, "sort", "N/A", "newest", nil, nil, 3})
	l.add("cc_files", libreFileColumns, files...)
	l.add("cc_listener_count", "id integer, timestamp_id integer, mount_name_id integer, listener_count integer", []any{1, 1, 1, 17}, []any{2, 2, 1, 19})
	l.add("cc_playlist", "id integer, name character varying(255), mtime timestamp(6) without time zone, utime timestamp(6) without time zone, creator_id integer, description character varying(512), length interval",
		[]any{1, "صباح الخير", "2024-01-01 10:00:00", "2024-01-01 10:00:00", 1, nil, "00:13:20"}, []any{2, "Night's \"mix\"", nil, nil, 1, "", "00:10:00"}, []any{3, "Opening", nil, nil, 1, nil, "00:00:10"}, []any{4, "Whole library", nil, nil, 1, nil, "1 day 02:03:04"})
	l.contents(tracks)
	l.add("cc_playout_history", "id integer, file_id integer, starts timestamp without time zone, ends timestamp without time zone, instance_id integer", []any{1, 1, "2024-01-01 10:00:00", nil, nil})
	l.add("cc_pref", "id integer, subjid integer, keystr character varying(255), valstr text",
		[]any{1, nil, "station_name", "إذاعة الوادي"}, []any{2, 1, "user_timezone", "Asia/Tokyo"}, []any{3, nil, "intro_playlist", "3"}, []any{4, nil, "soundcloud_password", "secret"}, []any{5, nil, "system_version", "4.5.0"})
	l.add("cc_schedule", "id integer, starts timestamp without time zone, file_id integer, instance_id integer", []any{1, "2026-12-01 08:00:00", 1, 1}, []any{2, "2026-12-01 08:03:20", 2, 1}, []any{3, "2026-12-01 08:06:40", 3, 1})
	l.shows()
	l.add("cc_subjs", "id integer, login character varying(255), pass character varying(255), type character(1), first_name character varying(255), last_name character varying(255), email character varying, login_attempts integer",
		[]any{1, "admin", "5f4dcc3b5aa765d61d8327deb882cf99", "A", "", "", nil, 0}, []any{2, "layla", "5f4dcc3b5aa765d61d8327deb882cf99", "P", "ليلى", "حداد", "layla@example.org", 0},
		[]any{3, "omar", "5f4dcc3b5aa765d61d8327deb882cf99", "H", "Omar", "", nil, 0}, []any{4, "guest", "5f4dcc3b5aa765d61d8327deb882cf99", "G", "A", "Guest", nil, 3}, []any{5, "idle", "x", "H", "I", "Dle", nil, 0})
	l.add("cc_track_types", "id integer, code character varying(16), visibility boolean, type_name character varying(64), description character varying(255), analyze_cue_points boolean", []any{1, "MUS", true, "Music", "", true}, []any{2, "JIN", true, "Jingles", "", false})
	l.add("cc_webstream", "id integer, name character varying(255), description character varying(255), url character varying(512), length interval", []any{1, "Relay", "", "http://stream.example/live", "01:00:00"})
	l.add("podcast", "id integer, url character varying(4096), title character varying(4096)", []any{1, "https://pod.example/feed", "P"})
	l.add("sessions", "id character(32), modified integer, lifetime integer, data text", []any{strings.Repeat("a", 32), 1, 1, "x|s:3:\"\\.\n\\.\nCOPY public.cc_files (id) FROM stdin;\";\t' -- /* $$"})
	return l
}

// libreFileColumns are those of cc_files, but some that are always empty.
const libreFileColumns = "id integer, name character varying(255) DEFAULT ''::character varying, mime character varying(255), ftype character varying(128), filepath text, import_status integer, currentlyaccessing integer, editedby integer, " +
	"mtime timestamp(6) without time zone, utime timestamp(6) without time zone, lptime timestamp(6) without time zone, md5 character(32), track_title character varying(512), artist_name character varying(512), bit_rate integer, sample_rate integer, format character varying(128), " +
	"length interval DEFAULT '00:00:00'::interval, album_title character varying(512), genre character varying(64), comments text, year character varying(16), track_number integer, channels integer, bpm integer, lyrics text, isrc_number character varying(512), language character varying(512), " +
	"file_exists boolean, replay_gain numeric, owner_id integer, cuein interval, cueout interval, silan_check boolean, hidden boolean, is_scheduled boolean, is_playlist boolean, filesize integer, description character varying(512), artwork character varying(4096), track_type_id integer"

// LibreAwkward is the title of track 11.
const LibreAwkward = "It's \"1\\2\"; --\tx\n$$ ليل"

func (l *Libre) file(i int) []any {
	artist, title, genre := fmt.Sprintf("فنان %d", i%50), fmt.Sprintf("أغنية %d", i), "طرب"
	if i%3 == 0 {
		artist, title, genre = fmt.Sprintf("Artist %d", i%50), fmt.Sprintf("Song %d", i), "Rock"
	}
	path := fmt.Sprintf("imported/1/%s/Album %d/%d-%s-128kbps.mp3", artist, i%9, i, title)
	status, exists, hidden, cueIn, cueOut, kind := 0, true, false, "00:00:00", "00:03:20", 1
	switch i {
	case 2:
		cueIn, cueOut = "00:00:01.25", "00:03:10.5"
	case 5:
		kind = 2
	case 7:
		hidden = true
	case 8:
		status = 2
	case 9:
		path = "../../etc/passwd"
	case 10:
		exists = false
	case 11:
		title = LibreAwkward
	}
	l.Files[i] = []byte("sound of " + strconv.Itoa(i))
	return []any{i, "", "audio/mp3", "audioclip", path, status, 0, nil, "2024-01-01 10:00:00", "2024-01-01 10:00:00", nil, fmt.Sprintf("%032x", i), title, artist, 128000, 44100, "mp3",
		"00:03:20.013063", fmt.Sprintf("Album %d", i%9), genre, nil, "1999", i % 12, 2, nil, nil, fmt.Sprintf("XX1230000%03d", i%1000), "ar",
		exists, -3.25, 1, cueIn, cueOut, true, hidden, false, true, len(l.Files[i]), nil, "", kind}
}

// Path is where a track lies.
func (l *Libre) Path(id int) string { return l.row(id)[4].(string) }

func (l *Libre) row(id int) []any {
	for _, t := range l.tables {
		if t.name == "cc_files" {
			return t.rows[id-1]
		}
	}
	return nil
}

// Record gives a track a sound of its own, in a file of a format, as "wav", of so many seconds.
func (l *Libre) Record(id int, artist, title, format string, seconds int, sound []byte) {
	path, length := fmt.Sprintf("imported/1/%s/%s.%s", artist, title, format), fmt.Sprintf("00:%02d:%02d", seconds/60, seconds%60)
	row := l.row(id)
	for i, c := range strings.Split(libreFileColumns, ", ") {
		name, _, _ := strings.Cut(c, " ")
		if v, ok := map[string]any{"filepath": path, "format": format, "mime": "audio/" + format, "artist_name": artist, "track_title": title, "length": length, "cuein": "00:00:00", "cueout": length, "filesize": len(sound), "replay_gain": 0}[name]; ok {
			row[i] = v
		}
	}
	l.Files[id] = sound
}

// contents fills the playlists: 1 has tracks, a block of fixed tracks, one that is made anew and a
// stream, and 4 all tracks. Rows lie in no order.
func (l *Libre) contents(tracks int) {
	var rows [][]any
	put := func(list, place, kind int, file, stream, block any) {
		rows = append(rows, []any{len(rows) + 1, list, file, block, stream, kind, place, 0, "00:03:20", "00:00:00", "00:03:20", "00:00:00.5", "00:00:00.5"})
	}
	put(1, 4, 0, 7, nil, nil)
	put(1, 3, 1, nil, 1, nil)
	put(1, 2, 2, nil, nil, 1)
	put(1, 1, 2, nil, nil, 2)
	put(1, 0, 0, 1, nil, nil)
	put(2, 0, 0, 2, nil, nil)
	put(2, 1, 0, 2, nil, nil)
	put(3, 0, 0, 5, nil, nil)
	for i := 1; i <= tracks; i++ {
		put(4, i, 0, i, nil, nil)
	}
	l.add("cc_playlistcontents", "id integer, playlist_id integer, file_id integer, block_id integer, stream_id integer, type smallint, \"position\" integer, trackoffset double precision, cliplength interval, cuein interval, cueout interval, fadein time without time zone, fadeout time without time zone", rows...)
}

// shows are: 1 on weekdays from Sunday to Thursday at 8, of Layla and with playlist 1; 2 each
// second Friday night, of Omar, with playlist 2 over and over; 3 on the third Monday of each month, of the
// guest and planned in Berlin; 4 long past; 5 on one day to come, of nobody; 6 until the end of 2026.
func (l *Libre) shows() {
	show := func(id int, name string, list any, repeat, custom bool) []any {
		return []any{id, name, "", "", nil, "ffffff", "112233", true, custom, "showuser", "showpass", false, true, "", list != nil, list, repeat, false, nil, false, nil}
	}
	l.add("cc_show", "id integer, name character varying(255), url character varying(255), genre character varying(255), description character varying(8192), color character varying(6), background_color character varying(6), live_stream_using_airtime_auth boolean, "+
		"live_stream_using_custom_auth boolean, live_stream_user character varying(255), live_stream_pass character varying(255), linked boolean, is_linkable boolean, image_path character varying(255), has_autoplaylist boolean, autoplaylist_id integer, autoplaylist_repeat boolean, override_intro_playlist boolean, intro_playlist_id integer, override_outro_playlist boolean, outro_playlist_id integer",
		show(1, "الصباح", 1, false, false), show(2, "Night", 2, true, true), show(3, "Berlin", nil, false, false), show(4, "Past", 1, false, false), show(5, "Gala", nil, false, false), show(6, "Ending", 1, false, false))
	var days [][]any
	day := func(show int, first string, last any, start, zone, length string, weekday any, repeat int) {
		days = append(days, []any{len(days) + 1, first, last, start, zone, length, weekday, repeat, nil, show, 0})
	}
	for i, first := range []string{"2024-01-07", "2024-01-08", "2024-01-09", "2024-01-10", "2024-01-11"} {
		day(1, first, nil, "08:00:00", "Asia/Riyadh", "02:00", i, 0)
	}
	day(2, "2026-11-20", nil, "23:00:00", "Asia/Riyadh", "02:00", 5, 1)
	day(3, "2026-01-19", nil, "18:00:00", "Europe/Berlin", "01:30", nil, 3)
	day(4, "2020-01-01", "2020-01-02", "10:00:00", "Asia/Riyadh", "01:00", nil, -1)
	day(5, "2026-12-31", "2027-01-01", "20:00:00", "Asia/Riyadh", "24:00", nil, -1)
	day(6, "2026-12-05", "2026-12-27", "06:00:00", "Asia/Riyadh", "00:30", 6, 0)
	l.add("cc_show_days", "id integer, first_show date, last_show date, start_time time without time zone, timezone character varying, duration character varying, day smallint, repeat_type smallint, next_pop_date date, show_id integer, record smallint", days...)
	l.add("cc_show_hosts", "id integer, show_id integer, subjs_id integer", []any{1, 1, 2}, []any{2, 2, 3}, []any{3, 3, 4}, []any{4, 4, 5})
	l.add("cc_show_rebroadcast", "id integer, day_offset character varying, start_time time without time zone, show_id integer", []any{1, "2 days", "10:00:00", 1})
}

func (l *Libre) add(name, columns string, rows ...[]any) {
	t := libreTable{name: name, rows: rows}
	for c := range strings.SplitSeq(columns, ", ") {
		t.columns = append(t.columns, c)
	}
	l.tables = append(l.tables, t)
}

// names are those of a table's columns, quoted as pg_dump does.
func (t libreTable) names() (out []string) {
	for _, c := range t.columns {
		name, _, _ := strings.Cut(c, " ")
		out = append(out, name)
	}
	return out
}

// Dump is what pg_dump --no-owner --no-privileges writes.
func (l *Libre) Dump(form LibreForm) []byte {
	var b bytes.Buffer
	b.WriteString("--\n-- PostgreSQL database dump\n--\n\n\\restrict a1b2'c3\n\n-- Dumped from database version 15.10 (Debian 15.10-0+deb12u1)\n-- Dumped by pg_dump version 15.10\n\n" +
		"SET statement_timeout = 0;\nSET client_encoding = 'UTF8';\nSET standard_conforming_strings = on;\nSELECT pg_catalog.set_config('search_path', '', false);\n\n" +
		"CREATE FUNCTION public.calculate_position() RETURNS trigger\n    LANGUAGE plpgsql\n    AS $_$BEGIN\n  -- it's; COPY public.cc_files (id) FROM stdin;\n  RETURN $1;\nEND;$_$;\n\n/* a /* nested */ comment; */\n")
	for _, t := range l.tables {
		fmt.Fprintf(&b, "CREATE TABLE public.%s (\n    %s,\n    CONSTRAINT %s_check CHECK ((id IS NOT NULL))\n);\n\n", t.name, strings.Join(t.columns, " NOT NULL,\n    "), t.name)
		fmt.Fprintf(&b, "CREATE SEQUENCE public.%s_id_seq\n    AS integer\n    START WITH 1;\n\nALTER TABLE ONLY public.%s ALTER COLUMN id SET DEFAULT nextval('public.%s_id_seq'::regclass);\n\n", t.name, t.name, t.name)
	}
	for _, t := range l.tables {
		t.data(&b, form)
	}
	b.WriteString("ALTER TABLE ONLY public.cc_files\n    ADD CONSTRAINT cc_files_pkey PRIMARY KEY (id);\n\n\\unrestrict a1b2'c3\n--\n-- PostgreSQL database dump complete\n--\n")
	return b.Bytes()
}

func (t libreTable) data(b *bytes.Buffer, form LibreForm) {
	names := strings.Join(t.names(), ", ")
	switch form {
	case LibreCopy:
		fmt.Fprintf(b, "COPY public.%s (%s) FROM stdin;\n", t.name, names)
		for _, r := range t.rows {
			b.WriteString(strings.Join(each(r, copyValue), "\t") + "\n")
		}
		b.WriteString("\\.\n\n\n")
	case LibreInserts:
		for _, r := range t.rows {
			fmt.Fprintf(b, "INSERT INTO public.%s VALUES (%s);\n", t.name, strings.Join(each(r, sqlValue), ", "))
		}
	case LibreColumnInserts:
		for from := 0; from < len(t.rows); from += 100 {
			fmt.Fprintf(b, "INSERT INTO public.%s (%s) VALUES\n", t.name, names)
			var all []string
			for _, r := range t.rows[from:min(from+100, len(t.rows))] {
				all = append(all, "\t("+strings.Join(each(r, sqlValue), ", ")+")")
			}
			b.WriteString(strings.Join(all, ",\n") + " ON CONFLICT DO NOTHING;\n")
		}
	}
}

func each(r []any, as func(any) string) (out []string) {
	for _, v := range r {
		out = append(out, as(v))
	}
	return out
}

func copyValue(v any) string {
	switch v := v.(type) {
	case nil:
		return `\N`
	case bool:
		return map[bool]string{true: "t", false: "f"}[v]
	case string:
		return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(v)
	}
	return fmt.Sprint(v)
}

func sqlValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	}
	return fmt.Sprint(v)
}
