package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/intake"
	"github.com/athir-radio/athir/internal/station"
)

const shelfAt = "/api/station/library"

func TestTheLibraryIsBrowsedInParts(t *testing.T) {
	r := newRig(t)
	code, _, body := r.call(t, "GET", shelfAt+"?q=%D8%A3%D8%BA%D9%86%D9%8A%D8%A9&sort=title&order=desc&offset=1&limit=2&facets=true", "")
	var got struct {
		Total, All, Offset int
		DurationMS         int64 `json:"durationMs"`
		Tracks             []struct {
			Path, State string
			AiredAt     int64
		}
		Facets map[string][]struct {
			Value string
			Count int
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || code != 200 || got.Total != 6 || got.All != 6 || got.Offset != 1 || len(got.Tracks) != 2 || got.Tracks[0].Path != "music/english/4.mp3" || got.DurationMS != 18*60_000 {
		t.Fatalf("%d %s %v", code, body, err)
	}
	if c := got.Facets["category"]; len(c) != 1 || c[0].Count != 6 {
		t.Errorf("facets %v", got.Facets)
	}
	for _, path := range []string{"?sort=colour", "?limit=201", "?state=x", "?order=up"} {
		if code, _, body := r.call(t, "GET", shelfAt+path, ""); code != 422 {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, head, body := r.call(t, "GET", shelfAt+"/export?format=csv&sort=path&state=airs", ""); code != 200 || strings.Count(body, "\r\n") != 6 || !strings.Contains(head.Get("Content-Disposition"), "library.csv") {
		t.Errorf("%d %v %q", code, head, body)
	}
	if code, _, body := r.call(t, "GET", shelfAt+"/export?format=m3u&sort=path", ""); code != 200 || !strings.HasPrefix(body, "#EXTM3U\n#EXTINF:180,فنان - أغنية 0\nmusic/english/0.mp3\n") {
		t.Errorf("%d %q", code, body)
	}
	if code, _, body := r.call(t, "GET", shelfAt+"/export?format=jspf", ""); code != 200 || !json.Valid([]byte(body)) {
		t.Errorf("%d %q", code, body)
	}
}

func TestWhatIsSaidOfATrackIsShownAndTakenBack(t *testing.T) {
	r := newRig(t)
	one := shelfAt + "/track?path=" + url.QueryEscape("music/english/2.mp3")
	code, _, body := r.call(t, "PATCH", shelfAt, `{"paths":["music/english/2.mp3"],"set":{"title":"جديد","cueInMs":1500,"limits":{"perDay":2}}}`)
	var done struct {
		Deed    struct{ ID int64 }
		Changed int
	}
	if err := json.Unmarshal([]byte(body), &done); err != nil || code != 200 || done.Changed != 1 {
		t.Fatalf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "GET", one, ""); code != 200 || !strings.Contains(body, `"title":"جديد"`) || !strings.Contains(body, `"title":"أغنية 2"`) || !strings.Contains(body, `"broken":["cooldown"]`) ||
		!strings.Contains(body, `"listeners":-1`) || !strings.Contains(body, `"cut":true`) || !strings.Contains(body, `"limited":true`) || !strings.Contains(body, `"lufs":-14`) {
		t.Errorf("%d %s", code, body)
	}
	undo := fmt.Sprintf("%s/deeds/%d/undo", shelfAt, done.Deed.ID)
	if code, _, body := r.call(t, "POST", undo, ""); code != 200 || !strings.Contains(body, `"changed":1`) {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "POST", undo, ""); code != 409 {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "GET", shelfAt+"/deeds", ""); code != 200 || strings.Count(body, `"id":`) != 2 {
		t.Errorf("%d %s", code, body)
	}
	for sent, location := range map[string]string{
		`{"paths":["music/english/2.mp3"],"set":{"limits":{"until":"soon"}}}`: "body.set.limits.until", `{"paths":["music/english/2.mp3"],"set":{"x":1}}`: "body.set.x",
		`{"paths":["music/english/2.mp3"],"query":{},"set":{"title":"x"}}`: "body.paths", `{"set":{"title":"x"}}`: "body.paths",
	} {
		if code, _, body := r.call(t, "PATCH", shelfAt, sent); code != 422 || !strings.Contains(body, `"location":"`+location+`"`) {
			t.Errorf("%s: %d %s", sent, code, body)
		}
	}
	if code, _, body := r.call(t, "PATCH", shelfAt, `{"query":{"q":"أغنية"},"set":{"genre":"طرب"}}`); code != 200 || !strings.Contains(body, `"changed":6`) {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "GET", shelfAt+"/track?path=none.mp3", ""); code != 404 {
		t.Errorf("%d %s", code, body)
	}
}

func TestSearchesAreKeptByName(t *testing.T) {
	r := newRig(t)
	sent := `{"views":[{"name":"رمضان","query":{"genre":["طرب"],"sort":"added","order":"desc"}},{"name":"New","query":{}}]}`
	if code, _, body := r.call(t, "PUT", shelfAt+"/views", sent); code != 200 || !strings.Contains(body, `"رمضان"`) {
		t.Fatalf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "GET", shelfAt+"/views", ""); code != 200 || strings.Index(body, "رمضان") > strings.Index(body, "New") {
		t.Errorf("%d %s", code, body)
	}
	for _, wrong := range []string{`{"views":[{"name":"","query":{}}]}`, `{"views":[{"name":"a","query":{}},{"name":"a ","query":{}}]}`, `{"views":[{"name":"a","query":{"sort":"x"}}]}`} {
		if code, _, body := r.call(t, "PUT", shelfAt+"/views", wrong); code != 422 {
			t.Errorf("%s: %d %s", wrong, code, body)
		}
	}
}

func TestTracksAreArchivedRestoredAndTriedAgain(t *testing.T) {
	r := newRig(t)
	code, _, body := r.call(t, "POST", shelfAt+"/archive", `{"paths":["music/english/1.mp3","music/english/3.mp3","none.mp3"]}`)
	if code != 200 || !strings.Contains(body, `"archived":["music/english/3.mp3"],"kept":["music/english/1.mp3"],"left":[{"path":"none.mp3"`) {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "GET", shelfAt+"/archived", ""); code != 200 || !strings.Contains(body, `"total":1`) {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "POST", shelfAt+"/restore", `{"paths":["music/english/3.mp3","x"]}`); code != 200 || !strings.Contains(body, `"restored":1,"missing":["x"]`) {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "GET", shelfAt+"/quarantine?q=audio", ""); code != 200 || !strings.Contains(body, `"total":1`) {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "POST", shelfAt+"/retry", `{"paths":["music/english/3.mp3","gone.mp3"]}`); code != 200 || !strings.Contains(body, `"registered":["music/english/3.mp3"]`) || !strings.Contains(body, `"gone":["gone.mp3"]`) || len(r.shelf.again) != 2 {
		t.Errorf("%d %s", code, body)
	}
}

// A page in another language says a reason by its code: each known one has its own.
func TestReasonsOfTheArchiveHaveCodes(t *testing.T) {
	r := newRig(t)
	for reason, code := range map[string]string{
		"by hand": "by_hand", intake.ReasonReplaced: "replaced_by_upload", intake.ReasonUndone: "undone",
		"replaced": "replaced", "outdated": "outdated", "retired": "retired", "junk": "junk", "duplicate": "duplicate",
	} {
		r.shelf.archived = []content.Archived{{Path: "a.mp3", Category: station.English, Reason: reason}}
		want := `"reason":"` + reason + `","code":"` + code + `"`
		if _, _, body := r.call(t, "GET", shelfAt+"/archived", ""); !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	r.shelf.archived = []content.Archived{{Path: "a.mp3", Reason: "somebody's own words"}}
	if _, _, body := r.call(t, "GET", shelfAt+"/archived", ""); strings.Contains(body, `"code"`) {
		t.Errorf("a code for words that have none: %s", body)
	}
}

func TestATrackIsHeardAndDrawnWithATicketAlone(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	key := []string{"X-Station-Key", "open-sesame"}
	tone(t, filepath.Join(r.files.Media, "music/english/2.mp3"), 2)
	code, _, body := r.call(t, "GET", shelfAt+"/peaks?path=music/english/2.mp3", "", key...)
	var wave struct {
		DurationMS int64 `json:"durationMs"`
		Peaks      string
	}
	if err := json.Unmarshal([]byte(body), &wave); err != nil || code != 200 || wave.DurationMS < 1900 || wave.DurationMS > 2200 {
		t.Errorf("%d %.200s %v", code, body, err)
	}
	if peaks, err := base64.StdEncoding.DecodeString(wave.Peaks); err != nil || len(peaks) == 0 || len(peaks)%2 != 0 {
		t.Errorf("%d bytes, %v", len(peaks), err)
	}
	ticket := func(of string) string {
		t.Helper()
		code, _, body := r.call(t, "POST", shelfAt+"/audio/ticket", `{"path":"`+of+`"}`, key...)
		var got struct{ Path string }
		if err := json.Unmarshal([]byte(body), &got); err != nil || code != 200 {
			t.Fatalf("%d %s", code, body)
		}
		return got.Path
	}
	at := ticket("music/english/2.mp3")
	if code, head, body := r.call(t, "GET", at, "", "Range", "bytes=0-99"); code != 206 || len(body) != 100 || head.Get("ETag") == "" {
		t.Errorf("%d %v, %d bytes", code, head, len(body))
	}
	if code, _, _ := r.call(t, "GET", strings.Replace(at, "2.mp3", "3.mp3", 1), ""); code != 401 {
		t.Errorf("the ticket of another track: %d", code)
	}
	if code, _, _ := r.call(t, "GET", "/api/library/audio?path=music/english/2.mp3", ""); code != 401 {
		t.Errorf("no ticket: %d", code)
	}
	if code, _, _ := r.call(t, "POST", shelfAt+"/audio/ticket", `{"path":"../athir.db"}`, key...); code != 404 {
		t.Errorf("what is no track: %d", code)
	}
	if code, _, _ := r.call(t, "GET", shelfAt+"/peaks?path=../athir.db", "", key...); code != 404 {
		t.Errorf("what is no track is drawn: %d", code)
	}
}

func TestAPictureIsGivenToTracks(t *testing.T) {
	r := newRig(t)
	var data bytes.Buffer
	if err := png.Encode(&data, image.NewRGBA(image.Rect(0, 0, 400, 400))); err != nil {
		t.Fatal(err)
	}
	at := shelfAt + "/cover?path=music/english/2.mp3&path=music/english/3.mp3"
	code, _, body := r.call(t, "PUT", at, data.String(), "Content-Type", "image/png")
	var got struct {
		Changed int
		Cover   string
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || code != 200 || got.Changed != 2 || len(got.Cover) != 32 {
		t.Fatalf("%d %s %v", code, body, err)
	}
	if code, head, body := r.call(t, "GET", "/api/library/covers/"+got.Cover+"?size=96", ""); code != 200 || head.Get("Content-Type") != "image/jpeg" || len(body) == 0 || !strings.Contains(head.Get("Cache-Control"), "immutable") {
		t.Errorf("%d %v", code, head)
	}
	if code, _, body := r.call(t, "DELETE", shelfAt+"/cover?path=music/english/2.mp3", ""); code != 200 || !strings.Contains(body, `"changed":1`) {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "PUT", at, "no picture", "Content-Type", "image/png"); code != 422 {
		t.Errorf("%d %s", code, body)
	}
	unknown := strings.Repeat("0", 32)
	if code, _, _ := r.call(t, "GET", "/api/library/covers/"+unknown, ""); code != 404 {
		t.Errorf("%d", code)
	}
	for sent, want := range map[string]int{unknown: 422, got.Cover: 200} {
		code, _, body := r.call(t, "PATCH", shelfAt, `{"paths":["music/english/2.mp3"],"set":{"cover":"`+sent+`"}}`)
		if code != want || code == 422 && !strings.Contains(body, `"location":"body.set.cover"`) {
			t.Errorf("the cover %s: %d %s", sent, code, body)
		}
	}
}

// A file of staff comes in by tus, is listened to, asks for its category, and is in the media
// folder once that is said; nobody without the right brings one.
func TestAnUploadedFileComesIntoTheLibrary(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	key := []string{"X-Station-Key", "open-sesame"}
	data := tone(t, filepath.Join(t.TempDir(), "song.mp3"), 70)
	if code, _, _ := r.upload(t, "song.mp3", data); code != 401 {
		t.Errorf("without the key: %d", code)
	}
	if code, _, _ := r.upload(t, "notes.txt", data, key...); code != 422 {
		t.Errorf("no sound: %d", code)
	}
	code, id, body := r.upload(t, "song.mp3", data, key...)
	if code != 204 || id == "" {
		t.Fatalf("%d %s", code, body)
	}
	r.runIntake(t)
	one := func(state string) string {
		t.Helper()
		return r.eventually(t, state, func() (string, bool) {
			_, _, body := r.call(t, "GET", shelfAt+"/intake", "", key...)
			return body, strings.Contains(body, `"state":"`+state+`"`)
		})
	}
	one("asks")
	_, head, _ := r.call(t, "GET", shelfAt+"/intake", "", key...)
	tag := append([]string{"If-None-Match", head.Get("ETag")}, key...)
	if code, head, body := r.call(t, "GET", shelfAt+"/intake", "", tag...); code != 304 || body != "" || head.Get("ETag") != tag[1] {
		t.Errorf("the same again: %d %v %s", code, head, body)
	}
	if code, _, _ := r.call(t, "GET", shelfAt+"/intake", "", tag[:2]...); code != 401 {
		t.Errorf("a tag without the key: %d", code)
	}
	if body := one("asks"); !strings.Contains(body, `"by":"station key"`) || !strings.Contains(body, `"title":"Nile"`) || !strings.Contains(body, `"guessed":true`) {
		t.Errorf("%s", body)
	}
	if code, _, body := r.call(t, "POST", shelfAt+"/intake/"+id+"/ticket", "", key...); code != 200 || !strings.Contains(body, "/api/library/intake/audio?") {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "PUT", shelfAt+"/intake/"+id, `{"category":"english","title":"The Nile"}`, key...); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "GET", shelfAt+"/intake", "", tag...); code != 200 || !strings.Contains(body, `"title":"The Nile"`) {
		t.Errorf("after a change: %d %s", code, body)
	}
	if code, _, body := r.call(t, "POST", shelfAt+"/intake/take", `{"ids":["`+id+`"]}`, key...); code != 200 || !strings.Contains(body, `"taken":1`) {
		t.Errorf("%d %s", code, body)
	}
	one("taken")
	if _, err := os.Stat(filepath.Join(r.files.Media, "english", "Amr - The Nile.mp3")); err != nil {
		t.Error(err)
	}
	if code, _, body := r.call(t, "POST", shelfAt+"/intake/"+id+"/undo", "", key...); code != 200 || !strings.Contains(body, `"state":"undoing"`) {
		t.Errorf("%d %s", code, body)
	}
	one("undone")
	if _, err := os.Stat(filepath.Join(r.files.Media, "english", "Amr - The Nile.mp3")); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if code, _, body := r.call(t, "POST", shelfAt+"/intake/"+id+"/undo", "", key...); code != 409 {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "DELETE", shelfAt+"/intake/"+id, "", key...); code != 204 {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "POST", shelfAt+"/intake/take", `{}`, key...); code != 422 {
		t.Errorf("%d %s", code, body)
	}
	if code, _, body := r.call(t, "PUT", shelfAt+"/intake/none", `{"category":"english"}`, key...); code != 404 {
		t.Errorf("%d %s", code, body)
	}
	if code, _, _ := r.upload(t, "of the same batch.mp3", data, key...); code != 204 {
		t.Errorf("%d", code)
	}
	orders, err := r.people.Orders(t.Context(), "", 0, 50)
	if err != nil {
		t.Fatal(err)
	}
	var begun []string
	for _, o := range orders {
		if o.Order == "POST /api/station/library/uploads/" {
			begun = append(begun, fmt.Sprint(o.Status, " ", o.Target))
		}
	}
	if !slices.Equal(begun, []string{"201 song.mp3", "422 notes.txt"}) {
		t.Errorf("the log of orders has %q", begun)
	}
}
