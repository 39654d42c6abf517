package libretime

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"

	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/kit/fetch"
)

// now is a Saturday noon in Riyadh.
func now() time.Time { return time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC) }

func write(t *testing.T, name string, b []byte) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func read(t *testing.T, from Source) *model.Station {
	t.Helper()
	from.Now = now()
	st, err := Read(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

func byName(t *testing.T, st *model.Station, name string) model.Playlist {
	t.Helper()
	for _, p := range st.Playlists {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("there is no playlist %q", name)
	return model.Playlist{}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestADumpIsReadWhole(t *testing.T) {
	l := importtest.NewLibre(5000)
	st := read(t, Source{File: write(t, "libretime.sql", l.Dump(importtest.LibreCopy))})
	if st.System != "LibreTime" || st.Name != "إذاعة الوادي" || st.Zone != "Asia/Riyadh" || st.Version != "4.5.0" || len(st.Tracks) != 4997 {
		t.Fatalf("%s %s %q in %q with %d tracks", st.System, st.Version, st.Name, st.Zone, len(st.Tracks))
	}
	tracks := map[string]model.Track{}
	for _, one := range st.Tracks {
		if tracks[one.ID] = one; one.Open != nil {
			t.Fatalf("%s opens though there is no media", one.Path)
		}
	}
	two := tracks["2"]
	want := model.Track{
		ID: "2", Path: l.Path(2), Title: "أغنية 2", Artist: "فنان 2", Album: "Album 2", Genre: "طرب", ISRC: "XX1230000002", Kind: "Music", Gain: -3.25, Size: int64(len(l.Files[2])),
		Length: 200013 * time.Millisecond, CueIn: 1250 * time.Millisecond, CueOut: 190500 * time.Millisecond,
	}
	if !reflect.DeepEqual(two, want) {
		t.Errorf("track 2 is %+v, want %+v", two, want)
	}
	if one := tracks["1"]; one.CueIn != 0 || one.CueOut != 200*time.Second {
		t.Errorf("track 1 has cues %v, %v", one.CueIn, one.CueOut)
	}
	if got := tracks["11"].Title; got != importtest.LibreAwkward {
		t.Errorf("an awkward title is %q", got)
	}
	if tracks["5"].Kind != "Jingles" {
		t.Errorf("track 5 is of %q", tracks["5"].Kind)
	}

	morning := byName(t, st, "صباح الخير")
	if strings.Join(morning.Items, " ") != "1 3 4" || morning.Plays != "once" || morning.Order != "sequence" {
		t.Errorf("the morning's tracks are %v, %s, %s", morning.Items, morning.Plays, morning.Order)
	}
	if got := asJSON(t, morning.When); got != `[{"days":["sun","mon","tue","wed","thu"],"start":"08:00","end":"10:00"},{"days":["sat"],"start":"06:00","end":"06:30","from":"2026-12-05","until":"2026-12-26"}]` {
		t.Errorf("the morning plays %s", got)
	}
	if got := asJSON(t, morning.Notes); !strings.Contains(got, "طرب") || !strings.Contains(got, "1 webstream ") || !strings.Contains(got, "1 place is") || strings.Contains(got, "single days") {
		t.Errorf("the morning's notes are %s", got)
	}
	night := byName(t, st, `Night's "mix"`)
	if strings.Join(night.Items, " ") != "2 2" || night.Plays != "only" || len(night.When) != 26 || asJSON(t, night.When[:2]) != `[{"start":"23:00","end":"01:00","from":"2026-12-04","until":"2026-12-04"},{"start":"23:00","end":"01:00","from":"2026-12-18","until":"2026-12-18"}]` || !strings.Contains(asJSON(t, night.Notes), "single days") {
		t.Errorf("the night is %v, %s, %s with %s", night.Items, night.Plays, asJSON(t, night.When), asJSON(t, night.Notes))
	}
	if p := byName(t, st, "Whole library"); len(p.Items) != 4997 || p.Plays != "clock" || len(p.When) != 0 {
		t.Errorf("the whole library has %d tracks, %s", len(p.Items), p.Plays)
	}
	if p := byName(t, st, "Opening"); !strings.Contains(asJSON(t, p.Notes), "intro") {
		t.Errorf("the intro has notes %s", asJSON(t, p.Notes))
	}
	if p := byName(t, st, "Fixed"); strings.Join(p.Items, " ") != "3 4" || p.Smart != "" {
		t.Errorf("a fixed block has %v, %q", p.Items, p.Smart)
	}
	if p := byName(t, st, "طرب"); p.Query == nil || asJSON(t, p.Query) != `{"q":"ليل","genre":["طرب","Classic"]}` || p.Order != "shuffle" || !strings.Contains(asJSON(t, p.Notes), "bpm is in the range") || !strings.Contains(asJSON(t, p.Notes), "1 hours") {
		t.Errorf("a smart block is %s, %s, %q, %s", asJSON(t, p.Query), p.Order, p.Smart, asJSON(t, p.Notes))
	}
	if p := byName(t, st, "New rock"); p.Query != nil || p.Smart != `utime after "1 month ago"` || p.Order != "sequence" {
		t.Errorf("a smart block that cannot be asked for is %s, %q", asJSON(t, p.Query), p.Smart)
	}

	var people []string
	for _, s := range st.Streamers {
		people = append(people, fmt.Sprintf("%s (%s) in %s %s", s.Login, s.Name, s.Comment, asJSON(t, s.When[:1])))
	}
	if got, want := strings.Join(people, "; "), `layla (ليلى حداد) in الصباح [{"days":["sun","mon","tue","wed","thu"],"start":"08:00","end":"10:00"}]; `+
		`omar (Omar) in Night [{"start":"23:00","end":"01:00","from":"2026-12-04","until":"2026-12-04"}]; guest (A Guest) in Berlin [{"start":"20:00","end":"21:30","from":"2026-12-21","until":"2026-12-21"}]`; got != want {
		t.Errorf("people: %s\nwant %s", got, want)
	}
	left := map[string]int{}
	for _, one := range st.Left {
		if left[one.Kind] = one.Count; one.Reason.En == "" || one.Reason.Ar == "" {
			t.Errorf("%s is left without a reason in both languages", one.Kind)
		}
	}
	if want := map[string]int{"pending files": 2, "unusable files": 1, "past shows": 1, "shows": 1, "users": 2, "schedule": 3, "rebroadcasts": 1, "podcasts": 1, "history": 1, "listeners": 2, "source logins": 1, "webstreams": 1}; !reflect.DeepEqual(left, want) {
		t.Errorf("left: %v, want %v", left, want)
	}
	if whole := fmt.Sprintf("%+v", *st); strings.Contains(whole, "5f4dcc") || strings.Contains(whole, "secret") || strings.Contains(whole, "showpass") {
		t.Error("a password was kept")
	}
}

// A show that is planned in another zone begins at its own time there, summer or winter.
func TestTimesAreTheStations(t *testing.T) {
	st := read(t, Source{File: write(t, "a.sql", importtest.NewLibre(12).Dump(importtest.LibreCopy))})
	got := asJSON(t, st.Streamers[2].When)
	for _, want := range []string{`{"start":"20:00","end":"21:30","from":"2027-03-15","until":"2027-03-15"}`, `{"start":"19:00","end":"20:30","from":"2027-06-21","until":"2027-06-21"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}

// Stations of LibreTime are often clocks of smart blocks: the playlist that a show loads is nothing
// but one. And Airtime 2.5 had folders, and codes of track types came later as ids.
func TestAPlaylistOfOneSmartBlockIsThatSearch(t *testing.T) {
	st := read(t, Source{File: write(t, "airtime.sql", []byte(`SET standard_conforming_strings = off;
INSERT INTO "cc_music_dirs" ("id", "directory", "type") VALUES (1, '/srv/airtime/stor/', 'stor'), (2, '/mnt/watched/', 'watched');
INSERT INTO cc_files (id, directory, filepath, import_status, length, track_type, hidden) VALUES (1, 1, 'imported/1/it\'s.mp3', 0, '00:01:00'::interval, 'JIN', 'f'), (2, 1, '/srv/airtime/stor/imported/b.mp3', 0, (NULL), NULL, false);
INSERT INTO cc_track_types (id, code, type_name) VALUES (1, 'JIN', 'Jingles');
INSERT INTO cc_playlist (id, name) VALUES (1, 'Rock hour'), (2, 'Two blocks');
INSERT INTO cc_playlistcontents (id, playlist_id, block_id, type, position) VALUES (1, 1, 1, 2, 0), (2, 1, 1, 2, 1), (3, 2, 1, 2, 0), (4, 2, 2, 2, 1);
INSERT INTO cc_block (id, name, type) VALUES (1, 'Rock', 'dynamic'), (2, 'Pop', 'dynamic');
INSERT INTO cc_blockcriteria (id, block_id, criteria, modifier, value, criteriagroup) VALUES (1, 1, 'genre', 'is', 'Rock', 0), (2, 1, 'sort', 'N/A', 'leastrecentplay', NULL), (3, 2, 'genre', 'is', 'Pop', 0), (4, 2, 'genre', 'is', 'Disco', 1);
INSERT INTO cc_show (id, name, has_autoplaylist, autoplaylist_id, autoplaylist_repeat) VALUES (1, 'Rock!', true, 1, false);
INSERT INTO cc_show_days (id, show_id, first_show, start_time, timezone, duration, repeat_type) VALUES (1, 1, '2024-01-05', '22:00:00', 'Africa/Cairo', '3:00', 0);
`))})
	if len(st.Tracks) != 2 || st.Tracks[0].Path != "imported/1/it's.mp3" || st.Tracks[0].Kind != "Jingles" || st.Tracks[1].Path != "imported/b.mp3" || st.Tracks[1].Length != 0 {
		t.Errorf("tracks: %+v", st.Tracks)
	}
	rock := byName(t, st, "Rock hour")
	if rock.Query == nil || asJSON(t, rock.Query) != `{"genre":["Rock"]}` || rock.Order != "turns" || rock.Plays != "only" || asJSON(t, rock.When) != `[{"days":["fri"],"start":"22:00","end":"01:00"}]` {
		t.Errorf("a playlist of a block is %+v, %s", rock, asJSON(t, rock.Query))
	}
	if two := byName(t, st, "Two blocks"); two.Query != nil || len(two.Notes) != 1 {
		t.Errorf("a playlist of two blocks is %+v", two)
	}
	if pop := byName(t, st, "Pop"); asJSON(t, pop.Query) != `{"genre":["Pop"]}` || !strings.Contains(asJSON(t, pop.Notes), "Disco") {
		t.Errorf("what must be both is %s with %s", asJSON(t, pop.Query), asJSON(t, pop.Notes))
	}
}

func gz(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestEveryFormOfADumpSaysTheSame(t *testing.T) {
	l := importtest.NewLibre(200)
	plain := l.Dump(importtest.LibreCopy)
	want := asJSON(t, shown(read(t, Source{File: write(t, "a.sql", plain)})))
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	archive := zip.NewWriter(&zipped)
	for name, b := range map[string][]byte{"readme.txt": []byte("x"), "backup/libretime.sql": plain} {
		w, err := archive.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes(plain)
	if err != nil {
		t.Fatal(err)
	}
	off := bytes.Replace(l.Dump(importtest.LibreInserts), []byte("standard_conforming_strings = on"), []byte("standard_conforming_strings = off"), 1)
	off = bytes.ReplaceAll(off, []byte(`1\2`), []byte(`1\\2`))
	for name, b := range map[string][]byte{
		"INSERT": l.Dump(importtest.LibreInserts), "INSERT with columns": l.Dump(importtest.LibreColumnInserts), "gzip": gz(t, plain), "zstd": z.EncodeAll(plain, nil), "zip": zipped.Bytes(),
		"UTF-16": wide, "CR LF": bytes.ReplaceAll(plain, []byte("\n"), []byte("\r\n")), "BOM": append([]byte("\ufeff"), plain...), "escapes in strings": off,
		"E strings": bytes.ReplaceAll(l.Dump(importtest.LibreInserts), []byte(`'It''s "1\2"`), []byte(`E'It\'s "1\\2"`)),
	} {
		t.Run(name, func(t *testing.T) {
			if got := asJSON(t, shown(read(t, Source{File: write(t, "dump", b)}))); got != want {
				t.Errorf("got %.2000s\nwant %.2000s", got, want)
			}
		})
	}
}

// flat is what of a station can be compared.
type flat struct {
	Name, Zone, Version string
	Tracks              []string
	Playlists           []model.Playlist
	Streamers           []model.Streamer
	Left                []model.Left
}

func shown(st *model.Station) flat {
	out := flat{st.Name, st.Zone, st.Version, nil, st.Playlists, st.Streamers, st.Left}
	for _, one := range st.Tracks {
		one.Open = nil
		out.Tracks = append(out.Tracks, fmt.Sprintf("%+v", one))
	}
	return out
}

func TestFilesBesideADumpAreOpened(t *testing.T) {
	l := importtest.NewLibre(20)
	media := fstest.MapFS{"etc/passwd": {Data: []byte("x")}}
	for i := 1; i <= 20; i++ {
		if i != 4 && i != 9 && i != 10 {
			media[l.Path(i)] = &fstest.MapFile{Data: append([]byte("media "), l.Files[i]...)}
		}
	}
	st := read(t, Source{File: write(t, "a.sql", l.Dump(importtest.LibreCopy)), Media: media})
	opened := 0
	for _, one := range st.Tracks {
		if (one.Open == nil) != (one.ID == "4" || one.ID == "10") {
			t.Errorf("track %s: opens %v", one.ID, one.Open != nil)
		}
		if one.Open == nil {
			continue
		}
		r, err := one.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil || string(b) != "media sound of "+one.ID || one.Size != int64(len(b)) {
			t.Errorf("track %s: %q, %v, size %d", one.ID, b, err, one.Size)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		opened++
	}
	if opened != 15 {
		t.Errorf("%d files were opened", opened)
	}
}

func TestWhatIsNoDumpIsRefusedWithARemedy(t *testing.T) {
	l := importtest.NewLibre(50)
	plain := string(l.Dump(importtest.LibreCopy))
	for name, c := range map[string]struct{ text, want string }{
		"nothing":             {"", "pg_dump --no-owner"},
		"another database":    {"CREATE TABLE public.wp_posts (id int);\nCOPY public.wp_posts (id) FROM stdin;\n1\n\\.\n", "pg_dump --no-owner"},
		"the custom format":   {"PGDMP\x01\x0e\x00", "pg_restore"},
		"cut off in a COPY":   {plain[:strings.Index(plain, "COPY public.cc_files")+2000], "not whole"},
		"cut off in a string": {"INSERT INTO cc_files VALUES ('x", "not whole"},
		"another encoding":    {"SET client_encoding = 'LATIN1';\n", "--encoding=UTF8"},
		"a row too short":     {"COPY public.cc_files (id, filepath) FROM stdin;\n1\n\\.\n", "1 values for 2 columns"},
		"CSV":                 {"COPY public.cc_files (id) FROM stdin WITH (FORMAT csv);\n1\n\\.\n", "pg_dump"},
		"a row too large":     {"COPY public.cc_files (id) FROM stdin;\n" + strings.Repeat("1", mostValue+1) + "\n\\.\n", "16 MiB"},
		"half of a gzip":      {string(gz(t, []byte(plain))[:100]), "unexpected EOF"},
		"an empty zip":        {"PK\x03\x04", "zip file cannot be read"},
	} {
		if _, err := Read(t.Context(), Source{File: write(t, "x.sql", []byte(c.text))}); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "x.sql") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Read(t.Context(), Source{File: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "--media") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Read(t.Context(), Source{File: filepath.Join(t.TempDir(), "none.sql")}); err == nil {
		t.Error("a file that there is not is read")
	}
}

func client(attempts int) *fetch.Client {
	return fetch.New(fetch.Options{Version: "test", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Backoff: time.Millisecond, Attempts: attempts})
}

// The API says what a dump does, but what it does not show.
func TestARunningLibreTimeSaysTheSameAsItsDump(t *testing.T) {
	l := importtest.NewLibre(2500)
	want := shown(read(t, Source{File: write(t, "a.sql", l.Dump(importtest.LibreCopy))}))
	want.Left = nil
	for _, paged := range []bool{false, true} {
		served := l.Serve(t, paged, importtest.LibreFault{Ends: "/files", Status: 500}, importtest.LibreFault{Ends: "files", Cut: true}, importtest.LibreFault{Ends: "show-days", Half: true}, importtest.LibreFault{Ends: "playlists", Status: 503})
		got := read(t, Source{Address: served.URL + "/api/", User: importtest.LibreUser, Password: importtest.LibrePassword, Fetch: client(3), Temp: t.TempDir()})
		left := map[string]int{}
		for _, one := range got.Left {
			left[one.Kind] = one.Count
		}
		if want := map[string]int{"pending files": 2, "unusable files": 1, "past shows": 1, "shows": 1, "users": 2, "rebroadcasts": 1, "podcasts": 1, "webstreams": 1}; !reflect.DeepEqual(left, want) {
			t.Errorf("paged %v: left %v", paged, left)
		}
		same := shown(got)
		same.Left = nil
		if a, b := asJSON(t, same), asJSON(t, want); a != b {
			t.Errorf("paged %v: got %.3000s\nwant %.3000s", paged, a, b)
		}
		if n := served.Faults(); n > 1 {
			t.Errorf("%d faults did not happen", n)
		}
		r, err := got.Tracks[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil || string(b) != "sound of "+got.Tracks[0].ID {
			t.Errorf("a track is %q: %v", b, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnAPIKeyReadsAllButUsers(t *testing.T) {
	temp := t.TempDir()
	served := importtest.NewLibre(30).Serve(t, false, importtest.LibreFault{Ends: "files/1/download", Cut: true})
	st := read(t, Source{Address: served.URL, Key: importtest.LibreKey, Fetch: client(2), Temp: temp})
	if len(st.Tracks) != 27 || len(st.Streamers) != 0 || st.Name != "إذاعة الوادي" || !strings.Contains(asJSON(t, st.Left), `"Kind":"streamers","Count":3`) {
		t.Errorf("%d tracks, %d people, %q, left %s", len(st.Tracks), len(st.Streamers), st.Name, asJSON(t, st.Left))
	}
	for _, one := range st.Tracks {
		if one.Open == nil {
			if one.ID != "10" {
				t.Errorf("track %s does not open", one.ID)
			}
			continue
		}
		r, err := one.Open()
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || string(b) != "sound of "+one.ID {
			t.Errorf("track %s: %q, %v", one.ID, b, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if rest, err := os.ReadDir(temp); err != nil || len(rest) > 0 {
		t.Errorf("left in the folder: %v, %v", rest, err)
	}
}

func TestARefusalOfTheAPINamesTheRemedy(t *testing.T) {
	l := importtest.NewLibre(12)
	for name, c := range map[string]struct {
		from   Source
		faults []importtest.LibreFault
		want   string
	}{
		"another key":            {Source{Key: "wrong"}, nil, "api_key under general"},
		"no key":                 {Source{}, nil, "api_key under general"},
		"another password":       {Source{User: "admin", Password: "x"}, nil, "--user, --password-file"},
		"broken for good":        {Source{Key: importtest.LibreKey}, []importtest.LibreFault{{Ends: "files", Status: 500}, {Ends: "files", Status: 500}}, "500"},
		"half an answer, always": {Source{Key: importtest.LibreKey}, []importtest.LibreFault{{Ends: "shows", Half: true}, {Ends: "shows", Half: true}}, "check the address"},
	} {
		c.from.Address, c.from.Fetch = l.Serve(t, false, c.faults...).URL, client(2)
		if _, err := Read(t.Context(), c.from); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), importtest.LibreKey) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestIntervalsAreReadInAllForms(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"00:03:20.013063": 200013 * time.Millisecond, "1 day 02:03:04": 26*time.Hour + 3*time.Minute + 4*time.Second, "1 02:03:04.500000": 26*time.Hour + 3*time.Minute + 4500*time.Millisecond,
		"@ 3 mins 2.5 secs": 182500 * time.Millisecond, "2 days": 48 * time.Hour, "01:30": 90 * time.Minute, "12.5": 12500 * time.Millisecond, "": 0, "-00:00:01": 0, "1 mon": 0, "x": 0, "00:61:00": 0,
		"NaN:00": 0, "1e300": 0, "9 days": 0, "1:2:3:4": 0, "1 2 3": 0,
	} {
		if got := interval(s); got != want {
			t.Errorf("%q is %v, want %v", s, got, want)
		}
	}
}

func FuzzDump(f *testing.F) {
	l := importtest.NewLibre(12)
	for _, form := range []importtest.LibreForm{importtest.LibreCopy, importtest.LibreInserts, importtest.LibreColumnInserts} {
		f.Add(l.Dump(form))
	}
	f.Add([]byte("SET standard_conforming_strings = off;INSERT INTO cc_files (id, filepath) VALUES (1, E'a\\x41\\101\\n'::text || 'b'), (DEFAULT, ('c'));"))
	f.Add([]byte("COPY cc_files (id, filepath, length) FROM stdin;\n1\ta\\tb\\x41\\\\\t1 day\n\\.\nCOPY cc_pref (id) FROM stdin;\n"))
	f.Add([]byte("$a$ $b$ $a$; /* /* */ */ \"a\"\"b\"; create table if not exists x.\"cc_files\" (id int, primary key (id))"))
	f.Fuzz(func(t *testing.T, b []byte) {
		db, err := readDump(bytes.NewReader(b))
		if err != nil {
			return
		}
		st := (&reading{db: db, now: now()}).station()
		ids := map[string]bool{}
		for _, one := range st.Tracks {
			if !validPath(one.Path) || strings.Contains("/"+one.Path+"/", "/../") || ids[one.ID] || one.CueIn < 0 || one.CueOut != 0 && one.CueOut <= one.CueIn || len(one.Title) > mostText {
				t.Fatalf("%+v", one)
			}
			ids[one.ID] = true
		}
		for _, p := range st.Playlists {
			for _, id := range p.Items {
				if !ids[id] {
					t.Fatalf("%s has track %s, that there is not", p.Name, id)
				}
			}
			if len(p.When) > mostWindows {
				t.Fatalf("%d windows", len(p.When))
			}
			if p.Query != nil && p.Query.Check() != nil {
				t.Fatalf("%+v: %v", p.Query, p.Query.Check())
			}
			for _, w := range p.When {
				if w.Start < 0 || w.Start >= 24*60 || w.End < 0 || w.End >= 24*60 || w.Until != 0 && w.From > w.Until {
					t.Fatalf("%+v", w)
				}
			}
		}
	})
}

// BenchmarkDump prints what a dump of 100,000 tracks takes.
func BenchmarkDump(b *testing.B) {
	dump := importtest.NewLibre(100_000).Dump(importtest.LibreCopy)
	b.SetBytes(int64(len(dump)))
	b.ReportAllocs()
	for b.Loop() {
		db, err := readDump(bytes.NewReader(dump))
		if err != nil {
			b.Fatal(err)
		}
		(&reading{db: db, now: now()}).station()
	}
}
