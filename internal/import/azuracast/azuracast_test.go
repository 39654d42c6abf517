package azuracast

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

func read(t *testing.T, from Source) *model.Station {
	t.Helper()
	from.Temp = t.TempDir()
	st, err := Read(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(from.Temp); len(left) > 0 {
			t.Errorf("%d files are left behind", len(left))
		}
	})
	return st
}

// same compares what was read with what the other system had.
func same(t *testing.T, st *model.Station, want importtest.AzuraStation, media bool) {
	t.Helper()
	if st.Name != want.Name || st.Zone != want.Zone || len(st.Tracks) != len(want.Media) || len(st.Playlists) != len(want.Lists) {
		t.Fatalf("%q %q: %d tracks, %d playlists", st.Name, st.Zone, len(st.Tracks), len(st.Playlists))
	}
	tracks := map[string]model.Track{}
	for _, tr := range st.Tracks {
		tracks[tr.ID] = tr
	}
	for _, m := range want.Media {
		tr := tracks[strconv.Itoa(m.ID)]
		if tr.Path != m.Path || tr.Title != m.Title || tr.Artist != m.Artist || tr.Album != m.Album || tr.Genre != m.Genre || tr.Length != seconds(m.Length) ||
			tr.CueIn != seconds(m.CueIn) || tr.CueOut != seconds(m.CueOut) || tr.Gain != m.Amplify {
			t.Fatalf("%+v\n%+v", tr, m)
		}
		if m.CrossStart > 0 && tr.Cross != 5*time.Second {
			t.Errorf("%s: crosses %s", m.Path, tr.Cross)
		}
		if media && (tr.Open != nil) != (m.File != nil) {
			t.Errorf("%s: its file is there: %t", m.Path, tr.Open != nil)
		}
	}
	for i, l := range want.Lists {
		at := slices.IndexFunc(st.Playlists, func(p model.Playlist) bool { return p.ID == strconv.Itoa(l.ID) })
		p := st.Playlists[at]
		var items []string
		for _, m := range l.Items {
			items = append(items, strconv.Itoa(m))
		}
		got := p.Items
		if l.Order != "sequential" && !media { // the API tells no order of those
			got = slices.Sorted(slices.Values(got))
			slices.Sort(items)
			items = slices.Compact(items)
		}
		if p.Name != l.Name || p.Off != l.Off || p.Jingles != l.Jingle || !slices.Equal(got, items) {
			t.Errorf("%d: %q: %d items for %d", i, p.Name, len(got), len(items))
		}
	}
}

func listOf(t *testing.T, st *model.Station, name string) model.Playlist {
	t.Helper()
	i := slices.IndexFunc(st.Playlists, func(p model.Playlist) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("no playlist %q", name)
	}
	return st.Playlists[i]
}

func TestABackupIsReadInEveryForm(t *testing.T) {
	a := importtest.NewAzura(300, 9)
	for _, name := range []string{"azuracast_backup.zip", "b.tar.gz", "b.tgz", "b.tzst", "b.tar.zst", "b.tar"} {
		t.Run(name, func(t *testing.T) {
			st := read(t, Source{File: importtest.WriteBackup(t, filepath.Join(t.TempDir(), name), a.Entries(true)), Station: "ATHIR"})
			same(t, st, a.Stations[0], true)
			if !slices.Equal(st.Others, []string{"Second Station"}) {
				t.Errorf("%q", st.Others)
			}
			files := 0
			for _, backwards := range []bool{false, true} { // who goes back is served, too
				tracks := slices.Clone(st.Tracks)
				if backwards {
					slices.Reverse(tracks)
					tracks = tracks[len(tracks)-3:]
				}
				for _, tr := range tracks {
					if tr.Open == nil {
						continue
					}
					files++
					checkFile(t, a.Stations[0], tr)
				}
			}
			if files < 40 {
				t.Errorf("%d files", files)
			}
		})
	}
}

func checkFile(t *testing.T, st importtest.AzuraStation, tr model.Track) {
	t.Helper()
	r, err := tr.Open()
	if err != nil {
		t.Fatal(tr.Path, err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(tr.Path, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	i := slices.IndexFunc(st.Media, func(m importtest.AzuraMedia) bool { return m.Path == tr.Path })
	if !bytes.Equal(got, st.Media[i].File) || tr.Size != 0 && int64(len(got)) != tr.Size {
		t.Errorf("%s: %d bytes", tr.Path, len(got))
	}
}

func TestADumpAloneTakesItsFilesFromTheMediaFolder(t *testing.T) {
	a := importtest.NewAzura(100, 10)
	media := fstest.MapFS{}
	for _, m := range a.Stations[0].Media {
		if m.File != nil {
			media[m.Path] = &fstest.MapFile{Data: m.File}
		}
	}
	for _, name := range []string{"db.sql", "db.sql.gz", "db.sql.zst"} {
		st := read(t, Source{File: importtest.WriteBackup(t, filepath.Join(t.TempDir(), name), a.Entries(false)), Station: "راديو الأثير", Media: media})
		same(t, st, a.Stations[0], true)
		for _, tr := range st.Tracks {
			if tr.Open != nil {
				checkFile(t, a.Stations[0], tr)
			}
		}
	}
}

func TestPlaylistsAreSaidInOurTerms(t *testing.T) {
	a := importtest.NewAzura(300, 0)
	st := read(t, Source{File: importtest.WriteBackup(t, filepath.Join(t.TempDir(), "b.sql"), a.Entries(false)), Station: "athir"})
	window := func(start, end rotation.TimeOfDay, days ...rotation.Weekday) rotation.Window {
		return rotation.Window{Start: start * 60, End: end * 60, Days: days}
	}
	week := window(20, 20, 0)
	week.From, week.Until = 20260104, 20261227
	noon := window(12, 12)
	noon.End += 15
	ramadan := rotation.Window{End: 23*60 + 59, From: 20270208, Until: 20270309}
	for name, want := range map[string]model.Playlist{
		"كل الأغاني":        {Plays: "share", Order: "shuffle", Weight: 5},
		"Classics":          {Plays: "share", Order: "turns", Weight: 3},
		"سهرة الجمعة":       {Plays: "only", Order: "sequence", Weight: 3, When: []rotation.Window{window(22, 2, 5, 6)}},
		"Album of the week": {Plays: "once", Order: "sequence", Weight: 3, When: []rotation.Window{week}},
		"At noon":           {Plays: "only", Order: "shuffle", Weight: 3, When: []rotation.Window{noon}},
		"هويات":             {Plays: "songs", Order: "shuffle", Weight: 3, Every: 4},
		"Half-hourly":       {Plays: "songs", Order: "turns", Weight: 3, Minutes: 30},
		"Top of the hour":   {Plays: "hourly", Order: "sequence", Weight: 3, Minute: 5},
		"Liquidsoap's own":  {Plays: "clock", Order: "shuffle", Weight: 3},
		"رمضان":             {Plays: "only", Order: "shuffle", Weight: 3, Off: true, When: []rotation.Window{ramadan}},
		"Elsewhere":         {Plays: "share", Order: "shuffle", Weight: 3, Remote: "https://example.org/list.m3u"},
		"Relay":             {Plays: "share", Order: "shuffle", Weight: 3, Remote: "https://example.org/live.mp3", Stream: true},
	} {
		got := listOf(t, st, name)
		if got.Plays != want.Plays || got.Order != want.Order || got.Weight != want.Weight || got.Every != want.Every || got.Minutes != want.Minutes || got.Minute != want.Minute ||
			got.Off != want.Off || got.Remote != want.Remote || got.Stream != want.Stream || fmt.Sprint(got.When) != fmt.Sprint(want.When) {
			t.Errorf("%s:\n%+v\n%+v", name, got, want)
		}
	}
	if n := len(listOf(t, st, "Top of the hour").Notes); n != 2 {
		t.Errorf("%d notes", n)
	}
	if s := st.Streamers[0]; s.Login != "dj_nour" || s.Name != "نور" || s.Comment != "مساء الجمعة\nmy \"show\"" || len(s.When) != 1 || !st.Streamers[2].Off {
		t.Errorf("%+v", st.Streamers)
	}
	if h := st.Webhooks[0]; h.Type != "generic" || h.Address != "https://example.org/hook?a=1&b='2'" || len(h.Events) != 3 || !st.Webhooks[2].Off {
		t.Errorf("%+v", st.Webhooks)
	}
	left := map[string]int{}
	for _, l := range st.Left {
		if left[l.Kind] = l.Count; l.Reason.En == "" || l.Reason.Ar == "" {
			t.Errorf("%+v", l)
		}
	}
	if left["mounts"] != 1 || left["history"] != 1 || left["listeners"] != 2 {
		t.Errorf("%v", left)
	}
}

func TestTheStationIsNamedWhereThereAreSeveral(t *testing.T) {
	a := importtest.NewAzura(3, 0)
	file := importtest.WriteBackup(t, filepath.Join(t.TempDir(), "b.zip"), a.Entries(false))
	for asked, want := range map[string]string{"": "Second Station", "third": `"third"`} {
		if _, err := Read(t.Context(), Source{File: file, Station: asked}); err == nil || !strings.Contains(err.Error(), "--station") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", asked, err)
		}
	}
	if st := read(t, Source{File: file, Station: "second"}); len(st.Tracks) != 1 || len(st.Playlists) != 1 || len(st.Streamers)+len(st.Webhooks) != 0 {
		t.Errorf("%+v", st)
	}
}

// A backup of the time before storage locations and extra_metadata.
func TestAnOldDumpIsReadToo(t *testing.T) {
	const old = "/*!40101 SET NAMES latin1 */;\nCREATE TABLE `station` (`id` int, `name` text, `short_name` text, `radio_base_dir` text, PRIMARY KEY (`id`));\n" +
		"INSERT INTO `station` VALUES (4,'Caf\xe9','cafe','/var/azuracast/stations/cafe');\n" +
		"CREATE TABLE `station_media` (`id` int, `station_id` int, `title` text, `path` text, `length` int, `fade_overlap` decimal(3,1), `cue_in` decimal(3,1), `cue_out` decimal(5,1));\n" +
		"INSERT INTO `station_media` (`id`,`station_id`,`title`,`path`,`length`,`fade_overlap`,`cue_in`,`cue_out`) VALUES (7,4,'x''y','a/b.mp3',200,4.5,1.0,190.0),(8,5,'other','c.mp3',1,NULL,NULL,NULL);\n"
	file := filepath.Join(t.TempDir(), "b.zip")
	importtest.WriteBackup(t, file, []importtest.Entry{{Name: "srv/radio/stations/cafe/media/a/b.mp3", Data: []byte("sound")}, {Name: "tmp/azuracast_backup_mariadb/db.sql", Data: []byte(old)}})
	st := read(t, Source{File: file})
	tr := st.Tracks[0]
	if len(st.Tracks) != 1 || st.Name != "Café" || tr.Title != "x'y" || tr.Cross != 4500*time.Millisecond || tr.CueIn != time.Second || tr.CueOut != 190*time.Second || tr.Size != 5 {
		t.Errorf("%+v %+v", st, tr)
	}
}

func TestWhatIsNoBackupIsRefusedWithTheRemedy(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	dump := string(importtest.NewAzura(50, 0).Dump())
	entries := func(e ...importtest.Entry) string {
		return importtest.WriteBackup(t, filepath.Join(dir, "x.zip"), e)
	}
	for _, c := range []struct{ file, want string }{
		{dir, "--media"},
		{write("song.mp3", "ID3\x04xxxx"), "azuracast:backup"},
		{write("cut.sql", dump[:strings.Index(dump, "INSERT INTO `station_media`")+4000]), "not whole"},
		{write("greek.sql", "SET NAMES greek;\nCREATE TABLE `station` (`id` int, `name` text);\nINSERT INTO `station` VALUES (1,'\xe1');"), "utf8mb4"},
		{write("short.sql", "CREATE TABLE `station` (`id` int, `name` text);\nINSERT INTO `station` VALUES (1);"), "1 values for 2 columns"},
		{write("cut.zip", "PK\x03\x04 and no more"), "is it whole"},
		{entries(importtest.Entry{Name: "var/x.mp3"}), "no db.sql"},
	} {
		if _, err := Read(t.Context(), Source{File: c.file}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.file, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, Source{File: write("all.sql", dump)}); err == nil {
		t.Error("an ended context reads on")
	}
}

// A path that leads out of the media folder opens nothing, wherever it is written.
func TestNothingLeadsOutOfTheFolder(t *testing.T) {
	dump := "CREATE TABLE `station` (`id` int, `name` text, `radio_base_dir` text);\nINSERT INTO `station` VALUES (1,'x','/var/azuracast/stations/x');\n" +
		"CREATE TABLE `station_media` (`id` int, `station_id` int, `path` text);\nINSERT INTO `station_media` VALUES (1,1,'../../../../etc/passwd'),(2,1,'a/../b.mp3'),(3,1,'/etc/passwd'),(4,1,'good.mp3'),(5,1,'a\\\\b.mp3');\n"
	file := filepath.Join(t.TempDir(), "b.zip")
	importtest.WriteBackup(t, file, []importtest.Entry{
		{Name: "../var/azuracast/stations/x/media/good.mp3", Data: []byte("evil")}, {Name: "var/azuracast/stations/x/media/good.mp3", Data: []byte("good")},
		{Name: "etc/passwd", Data: []byte("no")}, {Name: "db.sql", Data: []byte(dump)},
	})
	opened := 0
	for _, from := range []Source{{File: file}, {File: file, Media: os.DirFS("/")}} {
		for _, tr := range read(t, from).Tracks {
			if tr.Open == nil {
				continue
			}
			opened++
			r, err := tr.Open()
			if err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(r)
			if _ = r.Close(); tr.Path == "good.mp3" && string(got) != "good" || !fs.ValidPath(tr.Path) {
				t.Errorf("%s: %q", tr.Path, got)
			}
		}
	}
	if opened == 0 {
		t.Error("nothing was opened")
	}
}

func reaching(backoff time.Duration) *fetch.Client {
	return fetch.New(fetch.Options{Version: "test", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Backoff: backoff})
}

func TestARunningStationIsReadThroughItsFaults(t *testing.T) {
	a := importtest.NewAzura(1200, 100)
	s := a.Serve(t, importtest.Fault{Ends: "/files", Status: 500}, importtest.Fault{Ends: "/playlists", Status: 429}, importtest.Fault{Ends: "/play", Cut: true}, importtest.Fault{Ends: "/play", Status: 502})
	st := read(t, Source{Address: s.URL + "/", Key: importtest.Key, Fetch: reaching(time.Millisecond), Station: "athir"})
	same(t, st, a.Stations[0], false)
	n := 0
	for _, tr := range st.Tracks {
		if strings.HasSuffix(tr.Path, ".wav") {
			checkFile(t, a.Stations[0], tr)
			n++
		}
	}
	if n < 20 || len(st.Streamers) != 3 || len(st.Webhooks) != 3 {
		t.Errorf("%d files, %d streamers, %d webhooks", n, len(st.Streamers), len(st.Webhooks))
	}
	if got := listOf(t, st, "Album of the week").When[0]; got.From != station.Date(20260104) || got.Start != got.End {
		t.Errorf("%+v", got)
	}
}

func TestAKeyThatMayNotIsSaid(t *testing.T) {
	a := importtest.NewAzura(3, 0)
	for _, c := range []struct {
		key, want string
		fault     importtest.Fault
	}{
		{key: "", want: "--api-key-file"},
		{key: importtest.Key, want: "does not know this key", fault: importtest.Fault{Ends: "/files", Status: http.StatusUnauthorized}},
	} {
		s := a.Serve(t, c.fault)
		if c.fault.Ends == "" {
			s = a.Serve(t)
		}
		if _, err := Read(t.Context(), Source{Address: s.URL, Key: c.key, Fetch: reaching(time.Millisecond), Station: "athir"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.key, err)
		}
	}
	s := a.Serve(t, importtest.Fault{Ends: "/streamers", Status: http.StatusForbidden})
	st := read(t, Source{Address: s.URL, Key: importtest.Key, Fetch: reaching(time.Millisecond), Station: "athir"})
	if len(st.Left) != 1 || st.Left[0].Kind != "streamers" || len(st.Webhooks) != 3 {
		t.Errorf("%+v", st.Left)
	}
}

func FuzzReadDump(f *testing.F) {
	f.Add(importtest.NewAzura(2, 0).Dump())
	f.Add([]byte("INSERT INTO `station` VALUES (1,'a\\'b',0x41,_binary 'x',-1.5e10,NULL);"))
	f.Add([]byte("/*!40101 SET NAMES latin1 */;CREATE TABLE station (id int, KEY x (`id`)) -- x\n;"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := readDump(bytes.NewReader(text))
		if err != nil {
			return
		}
		st, err := fromDump(&bundle{dump: d, close: func() error { return nil }}, Source{})
		if err != nil {
			return
		}
		for _, p := range st.Playlists {
			for _, w := range p.When {
				if w.Start < 0 || w.Start >= 24*60 || w.End < 0 || w.End >= 24*60 {
					t.Errorf("%+v", w)
				}
			}
		}
		for _, tr := range st.Tracks {
			if tr.Open != nil || tr.Cross < 0 || tr.CueIn < 0 || tr.CueOut < 0 {
				t.Errorf("%+v", tr)
			}
		}
	})
}

// What any text is written as is read back as it was.
func FuzzText(f *testing.F) {
	f.Add("it's \\ \"x\"\n\x1a")
	f.Fuzz(func(t *testing.T, s string) {
		quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\x00", `\0`).Replace(s)
		for _, form := range []string{"'" + quoted + "'", "'" + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "'", "''") + "'", fmt.Sprintf("0x%x", s), fmt.Sprintf("x'%x'", s)} {
			if s == "" && strings.HasPrefix(form, "0x") {
				continue
			}
			got, err := newLexer(strings.NewReader(form)).next()
			if err != nil || got.kind != text || got.text != s {
				t.Errorf("%q: %q, %v", form, got.text, err)
			}
		}
	})
}
