package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/web/api"
)

const playlistsAt = "/api/station/playlists"

// said is what answers of playlists have in common.
type said struct {
	Playlist struct {
		ID, Version                    int64
		Name, Kind, Address            string
		Tracks, Ready, Missing         int
		Open                           bool
		When                           []map[string]any
		Problem                        *struct{ En, Ar string }
		Unmatched                      []struct{ Title, Address string }
		FetchedAt, DurationMS, AiredAt int64
	}
	Deed struct {
		ID   int64
		Kind string
	}
	Added   int
	Refused []struct{ Path, En, Ar string }
	Items   []struct {
		Place   int
		Path    string
		Missing bool
		Track   *struct{ Title string }
	}
	Total int
}

func (r *rig) list(t *testing.T, want int, method, path, body string) (out said) {
	t.Helper()
	code, _, text := r.call(t, method, playlistsAt+path, body)
	if code != want {
		t.Fatalf("%s %s: %d %s", method, path, code, text)
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (s said) paths() (out []string) {
	for _, item := range s.Items {
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(item.Path, "music/english/"), ".mp3"))
	}
	return out
}

func TestAPlaylistIsMadeChangedAndTakenBack(t *testing.T) {
	r := newRig(t)
	made := r.list(t, 200, "POST", "", `{"name":"سهرة الجمعة","kind":"hand","order":"sequence","plays":"only","when":[{"days":["fri"],"start":"20:00","end":"02:00","from":"2026-12-01","until":"2026-12-31"}],"on":true,"paths":["music/english/3.mp3","music/english/1.mp3","nowhere.mp3"]}`)
	p := made.Playlist
	if p.Name != "سهرة الجمعة" || p.Tracks != 2 || p.Ready != 2 || made.Deed.Kind != "make" || made.Added != 2 || len(made.Refused) != 1 || made.Refused[0].Ar == "" || p.When[0]["until"] != "2026-12-31" || p.When[0]["start"] != "20:00" {
		t.Fatalf("%+v", made)
	}
	at := fmt.Sprintf("/%d", p.ID)
	edit := func(want int, version int64, what string) said {
		t.Helper()
		return r.list(t, want, "PATCH", at+"/items", fmt.Sprintf(`{"version":%d,%s}`, version, what))
	}
	added := edit(200, p.Version, `"add":{"query":{"category":["english"],"sort":"path"},"at":1}`)
	if added.Added != 6 || added.Playlist.Tracks != 8 {
		t.Fatalf("%+v", added)
	}
	if got := r.list(t, 200, "GET", at+"/items?limit=4&offset=0", ""); got.Total != 8 || !slices.Equal(got.paths(), []string{"3", "0", "1", "2"}) || got.Items[1].Track.Title != "أغنية 0" {
		t.Errorf("%+v", got)
	}
	v := added.Playlist.Version
	moved := edit(200, v, `"move":{"places":[7,0],"to":2}`)
	if got := r.list(t, 200, "GET", at+"/items", ""); !slices.Equal(got.paths(), []string{"0", "3", "1", "1", "2", "3", "4", "5"}) {
		t.Errorf("%v", got.paths())
	}
	for what, want := range map[string]int{
		`"sort":"colour"`: 422, `"add":{}`: 422, `"remove":{"places":[99]}`: 422, `"move":{"places":[0],"to":99}`: 422, `"sort":"path","remove":{"places":[0]}`: 422,
	} {
		edit(want, moved.Playlist.Version, what)
	}
	edit(409, v, `"sort":"path"`)
	if _, _, body := r.call(t, "PATCH", playlistsAt+at+"/items", fmt.Sprintf(`{"version":%d,"remove":{"places":[99]}}`, moved.Playlist.Version)); !strings.Contains(body, "body.remove.places") || !strings.Contains(body, "الموضع خارج القائمة") {
		t.Errorf("%s", body)
	}
	r.list(t, 200, "POST", fmt.Sprintf("/deeds/%d/undo", moved.Deed.ID), "")
	r.list(t, 404, "POST", fmt.Sprintf("/deeds/%d/undo", added.Deed.ID+999), "")
}

func TestPlaylistsOfSearchesAddressesAndFiles(t *testing.T) {
	r := newRig(t)
	smart := r.list(t, 200, "POST", "", `{"name":"smart","kind":"smart","query":{"category":["english"]},"order":"turns","plays":"share","share":30,"when":[],"on":true}`)
	if smart.Playlist.Tracks != 6 || !smart.Playlist.Open {
		t.Errorf("%+v", smart.Playlist)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("[playlist]\nFile1=music/english/4.mp3\nTitle1=x\nFile2=http://elsewhere.example/a.mp3\nNumberOfEntries=2\n"))
	}))
	defer srv.Close()
	far := r.list(t, 200, "POST", "", `{"name":"far","kind":"remote","address":"`+srv.URL+`/a.pls?token=5","order":"turns","plays":"songs","everySongs":4,"when":[],"on":true}`)
	got := r.list(t, 200, "POST", fmt.Sprintf("/%d/refresh", far.Playlist.ID), "")
	if got.Playlist.Tracks != 1 || len(got.Playlist.Unmatched) != 1 || got.Playlist.FetchedAt == 0 || got.Playlist.Problem != nil {
		t.Errorf("%+v", got.Playlist)
	}
	r.list(t, 422, "POST", fmt.Sprintf("/%d/refresh", smart.Playlist.ID), "")

	const file = "#EXTM3U\n#PLAYLIST:رحلة\n#EXTINF:180,فنان - أغنية 2\nC:\\radio\\music\\english\\2.mp3\nnone.mp3\n"
	var dry, kept struct {
		said
		Entries, Matched int
		Name             string
		Found            []struct{ Title, Path string }
		Missing          []struct{ Title, Address string }
	}
	send := func(query string, into any) int {
		code, _, body := r.call(t, "POST", playlistsAt+"/file?"+query, file, "Content-Type", "application/octet-stream")
		if err := json.Unmarshal([]byte(body), into); err != nil {
			t.Fatal(body)
		}
		return code
	}
	if code := send("name=a.m3u&dry=true", &dry); code != 200 || dry.Entries != 2 || dry.Matched != 1 || dry.Found[0].Path != "music/english/2.mp3" || len(dry.Missing) != 1 || dry.Name != "رحلة" || dry.Playlist.ID != 0 {
		t.Errorf("%d %+v", code, dry)
	}
	for _, name := range []string{"رحلة", "رحلة (2)"} {
		if code := send("name=a.m3u", &kept); code != 200 || kept.Playlist.Name != name || kept.Playlist.Tracks != 1 {
			t.Errorf("%d %+v", code, kept)
		}
	}
	for format, want := range map[string]string{"m3u": "#EXTM3U\n", "pls": "[playlist]\n", "xspf": "<?xml"} {
		code, head, body := r.call(t, "GET", fmt.Sprintf("%s/%d/export?format=%s", playlistsAt, smart.Playlist.ID, format), "")
		if code != 200 || !strings.HasPrefix(body, want) || strings.Count(body, "music/english/") != 6 || !strings.Contains(head.Get("Content-Disposition"), "."+format) {
			t.Errorf("%s: %d %v %q", format, code, head, body)
		}
	}
	if code, _, _ := r.call(t, "GET", playlistsAt+"/99/export?format=m3u", ""); code != 404 {
		t.Errorf("no such playlist: %d", code)
	}
	if code, _, body := r.call(t, "POST", playlistsAt+"/file?name=a.m3u", "#EXTM3U\nnone.mp3\n", "Content-Type", "application/octet-stream"); code != 422 || !strings.Contains(body, "ارفع المقاطع") {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "POST", playlistsAt+"/file?name=a.mp3", "\x00\x01", "Content-Type", "application/octet-stream"); code != 422 || !strings.Contains(body, "قائمة تشغيل") {
		t.Errorf("%d %s", code, body)
	}
	gone := r.list(t, 200, "DELETE", fmt.Sprintf("/%d", far.Playlist.ID), "")
	r.list(t, 404, "GET", fmt.Sprintf("/%d", far.Playlist.ID), "")
	if back := r.list(t, 200, "POST", fmt.Sprintf("/deeds/%d/undo", gone.Deed.ID), ""); back.Playlist.ID != far.Playlist.ID || back.Playlist.Kind != "remote" {
		t.Errorf("%+v", back)
	}
}

// Who only looks is not told what an address holds.
func TestAVisitorDoesNotSeeTheSecretOfAnAddress(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) { o.StationKey, o.Look = secret.Of("open-sesame"), true })
	key := []string{"X-Station-Key", "open-sesame"}
	code, _, body := r.call(t, "POST", playlistsAt, `{"name":"far","kind":"remote","address":"http://user:pass@127.0.0.1:1/a.pls?token=5","order":"turns","plays":"clock","when":[],"on":false}`, key...)
	if code != 200 || !strings.Contains(body, "token=5") {
		t.Fatal(code, body)
	}
	if code, _, body := r.call(t, "POST", playlistsAt+"/1/refresh", "", key...); code != 200 || !strings.Contains(body, "problem") {
		t.Fatal(code, body)
	}
	for _, at := range []string{playlistsAt, playlistsAt + "/1"} {
		code, _, body := r.call(t, "GET", at, "")
		if code != 200 || !strings.Contains(body, "a.pls") || strings.Contains(body, "token=5") || strings.Contains(body, "pass") {
			t.Errorf("%s: %d %s", at, code, body)
		}
	}
}

func TestAPlaylistFileThatIsTooLargeIsRefused(t *testing.T) {
	r := newRig(t)
	code, _, body := r.call(t, "POST", playlistsAt+"/file?name=a.m3u&dry=true", strings.Repeat("#\n", 2<<20+1), "Content-Type", "application/octet-stream")
	if code != 413 {
		t.Errorf("%d %s", code, body)
	}
}
