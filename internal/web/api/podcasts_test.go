package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/podcast"
)

const ownShow = `{"slug": "night", "on": true, "title": "Night talk", "description": "", "language": "en", "author": "", "email": "", "copyright": "", "categories": ["News"], "explicit": false, "serial": false, "locked": true,
	"from": {"kind": "live", "streams": [], "types": [], "shortest": 60}, "held": true, "keep": {"episodes": 0, "days": 0, "megabytes": 0}}`

// What listeners are shown of shows and episodes: all that they may hear, and nothing else.
func TestListenersSeeShowsAndEpisodes(t *testing.T) {
	r, shows := newRigOnDemand(t)
	shows.live = exampleShow
	list := r.json(t, "/api/podcasts")["shows"].([]any)
	show, _ := list[0].(map[string]any)
	if len(list) != 1 || show["slug"] != exampleShow || show["author"] != "أثير" || show["kind"] != "live" || show["live"] != true || show["episodes"] != 1.0 || show["latest"] != 3000.0 ||
		show["cover"] != "/podcasts/diwan/cover.jpg" || show["feed"] != "/podcasts/diwan/feed.xml" || show["page"] != "/podcasts/diwan" {
		t.Errorf("%v", list)
	}
	if one := r.json(t, "/api/podcasts/diwan"); one["title"] != "ديوان المساء" || one["email"] != nil {
		t.Errorf("%v", one)
	}
	page := r.json(t, "/api/podcasts/diwan/episodes")
	episodes := page["episodes"].([]any)
	e, _ := episodes[0].(map[string]any)
	if len(episodes) != 1 || page["next"] != 0.0 || e["id"] != exampleEpisode || e["audio"] != "/podcasts/diwan/"+exampleEpisode+"/audio.mp3" || e["page"] != "/podcasts/diwan/"+exampleEpisode ||
		len(e["chapters"].([]any)) != 0 || e["text"] != "" || e["publishedAt"] != 3000.0 || e["durationMs"] != 60_000.0 || e["bytes"] != 9.0 {
		t.Errorf("%v", page)
	}
	one := r.json(t, "/api/podcasts/diwan/episodes/"+exampleEpisode)
	if at(one, "episode", "text") != "أهلا بكم" || len(at(one, "episode", "chapters").([]any)) != 1 || at(one, "show", "slug") != exampleShow || one["newer"] != nil || one["older"] != nil {
		t.Errorf("%v", one)
	}
	for _, hidden := range []string{"/" + exampleMade, "/none", "/../" + exampleMade, "/" + exampleMade + "/audio"} {
		if code, _, body := r.call(t, "GET", "/api/podcasts/diwan/episodes"+hidden, ""); code < 400 || strings.Contains(body, "ID3") {
			t.Errorf("%s: %d %s", hidden, code, body)
		}
	}
	for name, change := range map[string]func(*podcast.Show){"off": func(s *podcast.Show) { s.On = false }, "removed": func(s *podcast.Show) { s.Removed = 5 }} {
		was := shows.shows[exampleShow]
		is := was
		change(&is)
		shows.shows[exampleShow] = is
		for _, path := range []string{"/api/podcasts/diwan", "/api/podcasts/diwan/episodes", "/api/podcasts/diwan/episodes/" + exampleEpisode} {
			if code, _, body := r.call(t, "GET", path, ""); code != 404 {
				t.Errorf("%s, %s: %d %s", name, path, code, body)
			}
		}
		if code, _, body := r.call(t, "GET", "/api/podcasts", ""); code != 200 || strings.Contains(body, exampleShow) {
			t.Errorf("%s: %d %s", name, code, body)
		}
		shows.shows[exampleShow] = was
	}
}

// Who asks again hears 304 until the show, its episodes or the air have changed.
func TestUnchangedPodcastsAreNotSentAgain(t *testing.T) {
	r, shows := newRigOnDemand(t)
	was := shows.episodes[exampleShow]
	for _, path := range []string{"/api/podcasts", "/api/podcasts/diwan", "/api/podcasts/diwan/episodes", "/api/podcasts/diwan/episodes?q=fayrouz", "/api/podcasts/diwan/episodes/" + exampleEpisode} {
		for what, change := range map[string]func(){
			"an episode": func() { _, _ = shows.alter(exampleShow, func(*podcast.Show) error { return nil }) },
			"the air":    func() { shows.live += "diwan" },
			"its time comes": func() {
				e := was[2]
				e.ID = "x" + e.ID
				shows.episodes[exampleShow] = append([]podcast.Episode{e}, was...)
			},
		} {
			shows.live, shows.episodes[exampleShow] = "", was
			code, head, _ := r.call(t, "GET", path, "")
			tag := head.Get("ETag")
			if again, _, _ := r.call(t, "GET", path, "", "If-None-Match", tag); code != 200 || again != 304 || head.Get("Cache-Control") != "no-cache" {
				t.Errorf("%s: %d, then %d, %v", path, code, again, head)
			}
			change()
			if again, now, _ := r.call(t, "GET", path, "", "If-None-Match", tag); !strings.HasSuffix(path, "podcasts") && (again != 200 || now.Get("ETag") == tag) {
				t.Errorf("%s after %s: %d", path, what, again)
			}
		}
	}
	for _, path := range []string{"/api/podcasts/none", "/api/podcasts/none/episodes"} {
		if code, _, _ := r.call(t, "GET", path, "", "If-None-Match", "*"); code != 404 {
			t.Errorf("%s: %d", path, code)
		}
	}
}

// However an archive is cut into parts, all parts have each episode once, in order.
func TestPartsOfAPodcastHoldEachEpisodeOnce(t *testing.T) {
	r, shows := newRigOnDemand(t)
	random := rand.New(rand.NewPCG(1, 5))
	for round := range 20 {
		var all []podcast.Episode
		published := int64(1_000_000)
		for i := range random.IntN(40) {
			published -= random.Int64N(3) // some at the same moment
			all = append(all, podcast.Episode{ID: fmt.Sprintf("%02d-%02d", round, i), State: podcast.Published, Published: published})
		}
		shows.episodes[exampleShow] = all
		var got []string
		limit, before := 1+random.IntN(7), 0.0
		for range len(all) + 1 {
			page := r.json(t, fmt.Sprintf("/api/podcasts/diwan/episodes?limit=%d&before=%.0f", limit, before))
			for _, e := range page["episodes"].([]any) {
				got = append(got, e.(map[string]any)["id"].(string))
			}
			if before = page["next"].(float64); before == 0 {
				break
			}
		}
		want := make([]string, len(all))
		for i, e := range all {
			want[i] = e.ID
		}
		if !slices.Equal(got, want) {
			t.Fatalf("by %d: %v, want %v", limit, got, want)
		}
		if len(all) > 2 {
			page := r.json(t, "/api/podcasts/diwan/episodes/"+all[1].ID)
			if at(page, "newer", "id") != all[0].ID || at(page, "older", "id") != all[2].ID {
				t.Errorf("neighbours: %v", page)
			}
		}
	}
}

// Episodes are found in the other script, newest first, also after they have changed.
func TestEpisodesAreFoundInBothScripts(t *testing.T) {
	r, shows := newRigOnDemand(t)
	all := []podcast.Episode{
		{ID: "c", State: podcast.Published, Published: 30, Title: "News", Summary: "the river rose", Creator: "Mona"},
		{ID: "b", State: podcast.Published, Published: 20, Title: "فيروز في الصباح", Creator: "منى"},
		{ID: "a", State: podcast.Published, Published: 10, Title: "Fairuz at night", Artist: "فيروز"},
	}
	shows.episodes[exampleShow] = all
	find := func(query string) (ids string) {
		t.Helper()
		for _, e := range r.json(t, "/api/podcasts/diwan/episodes?q="+query)["episodes"].([]any) {
			ids += e.(map[string]any)["id"].(string)
		}
		return ids
	}
	for query, want := range map[string]string{"fayrouz": "ba", "%D9%81%D9%8A%D8%B1%D9%88%D8%B2": "ba", "mona": "cb", "riv": "c", "fairuz+night": "a", "%21": "", "none": "", "+": "cba", "fayrouz&limit=1&before=20": "a", "fayrouz&limit=1": "b"} {
		if got := find(query); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
	changed := slices.Clone(all)
	changed[2].Title, changed[2].Artist = "Abdel Halim", ""
	shows.episodes[exampleShow] = changed
	_, _ = shows.alter(exampleShow, func(*podcast.Show) error { return nil })
	if got := find("fayrouz"); got != "b" {
		t.Errorf("after a change: %q", got)
	}
	var searches sync.WaitGroup
	for i := range 8 {
		searches.Go(func() {
			_, _, _ = r.call(t, "GET", fmt.Sprintf("/api/podcasts/diwan/episodes?q=mona&limit=%d", i+1), "")
		})
	}
	searches.Wait()
}

// An operator makes a show, changes it, gives it a cover, removes it and brings it back.
func TestAnOperatorKeepsShows(t *testing.T) {
	r, shows := newRigOnDemand(t)
	key := []string{"X-Station-Key", "open-sesame", "Content-Type", "application/json"}
	send := func(method, path, body string, want int) (out map[string]any, text string) {
		t.Helper()
		code, head, text := r.call(t, method, "/api/station/podcasts"+path, body, key...)
		if code != want {
			t.Fatalf("%s %s: %d %s", method, path, code, text)
		}
		if code < 400 && code != 204 && head.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s may be kept: %v", method, path, head)
		}
		if text != "" {
			if err := json.Unmarshal([]byte(text), &out); err != nil {
				t.Fatal(err)
			}
		}
		return out, text
	}
	made, text := send("POST", "", `{"own": `+ownShow+`}`, 201)
	if strings.Contains(text, "null") {
		t.Errorf("null: %s", text)
	}
	if at(made, "own", "title") != "Night talk" || made["version"] != 1.0 || made["ownCover"] != false || made["page"] != "/podcasts/night" || shows.feed != r.URL+"/podcasts/night/feed.xml" {
		t.Errorf("%v, its feed %s", made, shows.feed)
	}
	send("POST", "", `{"own": `+ownShow+`}`, 409)
	if _, text := send("POST", "", `{"own": `+strings.Replace(strings.Replace(ownShow, "Night talk", "", 1), "night", "day", 1)+`}`, 422); !strings.Contains(text, "body.own.title") || !strings.Contains(text, "اكتب عنوانا") {
		t.Errorf("without a title: %s", text)
	}
	if _, text := send("POST", "", `{"own": `+strings.Replace(ownShow, `"live"`, `"radio"`, 1)+`}`, 422); !strings.Contains(text, "body.own.from.kind") {
		t.Errorf("of another kind: %s", text)
	}
	set, _ := send("PUT", "/night", `{"version": 1, "own": `+strings.Replace(ownShow, "Night talk", "Late talk", 1)+`}`, 200)
	if at(set, "own", "title") != "Late talk" || set["version"] != 2.0 {
		t.Errorf("%v", set)
	}
	if _, text := send("PUT", "/night", `{"version": 1, "own": `+ownShow+`}`, 409); !strings.Contains(text, "load version 2") {
		t.Errorf("the second editor: %s", text)
	}
	send("PUT", "/none", `{"version": 1, "own": `+ownShow+`}`, 404)
	if covered, _ := send("PUT", "/night/cover", "\x89PNG…", 200); covered["ownCover"] != true || covered["cover"] != "/podcasts/night/cover.jpg?v=c0ffee" {
		t.Errorf("%v", covered)
	}
	if _, text := send("PUT", "/night/cover", "GIF89a", 422); !strings.Contains(text, `"cover"`) {
		t.Errorf("no picture: %s", text)
	}
	send("PUT", "/none/cover", "\x89PNG…", 404)
	send("PUT", "/night/cover", strings.Repeat("x", 12<<20), 413)
	if covered, _ := send("DELETE", "/night/cover", "", 200); covered["ownCover"] != false {
		t.Errorf("%v", covered)
	}
	send("DELETE", "/night", "", 204)
	list, _ := send("GET", "", "", 200)
	if shows := list["shows"].([]any); len(shows) != 2 || shows[0].(map[string]any)["removedAt"] != 4000.0 || list["mostBytes"] != float64(20<<30) || list["bytes"] != 9.0 || len(list["kinds"].([]any)) != 4 || len(list["categories"].([]any)) == 0 {
		t.Errorf("%v", list)
	} else if states := at(shows[1], "states"); fmt.Sprint(states) != "map[failed:1 held:1 hidden:0 making:0 published:1 removed:0]" {
		t.Errorf("%v", states)
	}
	if back, _ := send("POST", "/night/restore", "", 200); back["removedAt"] != 0.0 {
		t.Errorf("%v", back)
	}
	for _, order := range []string{"DELETE /none", "POST /none/restore", "DELETE /none/cover", "GET /none/offers", "GET /none/episodes"} {
		method, path, _ := strings.Cut(order, " ")
		send(method, path, "", 404)
	}
}

// An operator makes, edits, publishes, removes and brings back episodes; the log of orders says of what.
func TestAnOperatorKeepsEpisodes(t *testing.T) {
	r, _ := newRigOnDemand(t)
	key := []string{"X-Station-Key", "open-sesame"}
	const of = "/api/station/podcasts/diwan"
	code, _, list := r.sendAs(t, "GET", of+"/episodes", nil, key...)
	all := list["episodes"].([]any)
	if code != 200 || len(all) != 3 || at(all[0], "problem") != "the recording is empty" || at(all[0], "problemAr") != "التسجيل فارغ" || at(all[0], "listen") != "" || at(all[1], "state") != "held" || at(all[2], "source", "key") != exampleRecording || at(all[2], "listeners") != -1.0 {
		t.Errorf("%d %v", code, list)
	}
	code, _, offers := r.sendAs(t, "GET", of+"/offers", nil, key...)
	if o := offers["offers"].([]any)[0]; code != 200 || at(o, "key") != "2026-06-01-late.mp3" || at(o, "creator") != "عمر" || at(o, "beganAt") != 5000.0 || at(o, "durationMs") != 60_000.0 {
		t.Errorf("%d %v", code, offers)
	}
	if code, _, made := r.sendAs(t, "POST", of+"/episodes", map[string]any{"key": "2026-06-01-late.mp3"}, key...); code != 201 || made["state"] != "making" || at(made, "source", "kind") != "live" {
		t.Errorf("%d %v", code, made)
	}
	if o := r.orders(t)[0]; o.Target != exampleShow || o.Detail != `{"key":"2026-06-01-late.mp3"}` {
		t.Errorf("%+v", o)
	}
	if code, _, made := r.sendAs(t, "POST", of+"/episodes", map[string]any{"key": "english/2.mp3", "kind": "library"}, key...); code != 201 || at(made, "source", "kind") != "library" {
		t.Errorf("%d %v", code, made)
	}
	if code, _, body := r.sendAs(t, "POST", of+"/episodes", map[string]any{"key": "gone.mp3"}, key...); code != 422 || !strings.Contains(fmt.Sprint(body), "body.key") {
		t.Errorf("%d %v", code, body)
	}
	one := of + "/episodes/" + exampleMade
	code, _, e := r.sendAs(t, "PUT", one, map[string]any{"title": "سهرة", "chapters": []any{map[string]any{"startMs": 5, "title": "أول", "artist": ""}}, "pinned": true, "state": "published"}, key...)
	if code != 200 || e["title"] != "سهرة" || e["pinned"] != true || e["state"] != "published" || at(e["chapters"].([]any)[0], "title") != "أول" || e["text"] == "" {
		t.Errorf("%d %v", code, e)
	}
	if code, _, body := r.sendAs(t, "PUT", one, map[string]any{"chapters": []any{map[string]any{"startMs": -5, "title": "", "artist": ""}}}, key...); code != 422 || !strings.Contains(fmt.Sprint(body), "body.chapters[0].startMs") {
		t.Errorf("%d %v", code, body)
	}
	for _, state := range []string{"making", "removed", ""} {
		if code, _, body := r.sendAs(t, "PUT", one, map[string]any{"state": state}, key...); code != 422 || !strings.Contains(fmt.Sprint(body), "body.state") {
			t.Errorf("%s by hand: %d %v", state, code, body)
		}
	}
	if code, _, _ := r.call(t, "DELETE", one, "", key...); code != 204 {
		t.Errorf("removed: %d", code)
	}
	if code, _, e := r.sendAs(t, "GET", one, nil, key...); code != 200 || e["state"] != "removed" || e["removedAt"] != 4000.0 {
		t.Errorf("%d %v", code, e)
	}
	if code, _, e := r.sendAs(t, "POST", one+"/restore", nil, key...); code != 200 || e["state"] != "published" || e["removedAt"] != 0.0 {
		t.Errorf("%d %v", code, e)
	}
	if code, _, e := r.sendAs(t, "POST", one+"/retry", nil, key...); code != 200 || e["state"] != "making" {
		t.Errorf("%d %v", code, e)
	}
	for _, order := range []string{"GET ", "PUT ", "DELETE ", "POST /restore", "POST /retry"} {
		method, path, _ := strings.Cut(order, " ")
		if code, _, body := r.sendAs(t, method, of+"/episodes/none"+path, map[string]any{}, key...); code != 404 {
			t.Errorf("%s of none: %d %v", order, code, body)
		}
	}
}

// The studio plays what listeners may not hear, by a ticket for that episode alone.
func TestTheStudioListensToWhatIsHeld(t *testing.T) {
	r, _ := newRigOnDemand(t)
	cookie := r.session(t, "nour", people.Viewer)
	_, _, e := r.sendAs(t, "GET", "/api/station/podcasts/diwan/episodes/"+exampleMade, nil, "Cookie", cookie)
	listen, _ := e["listen"].(string)
	code, head, body := r.call(t, "GET", listen, "")
	if code != 200 || body != "ID3 sound" || head.Get("Content-Type") != "audio/mpeg" || head.Get("Cache-Control") != "private, no-cache" || head.Get("ETag") == "" {
		t.Fatalf("%s: %d %v %s", listen, code, head, body)
	}
	if code, head, body := r.call(t, "GET", listen, "", "Range", "bytes=4-"); code != 206 || body != "sound" || head.Get("Content-Range") != "bytes 4-8/9" {
		t.Errorf("a part: %d %v %s", code, head, body)
	}
	if _, head, _ := r.call(t, "GET", listen+"&download=1", ""); !strings.HasPrefix(head.Get("Content-Disposition"), "attachment; filename*=utf-8''%D8%A3%D9%85") {
		t.Errorf("saved: %v", head)
	}
	path, ticket, _ := strings.Cut(listen, "?")
	for name, address := range map[string]string{
		"no ticket": path, "a guess": path + "?ticket=1.x", "another episode": strings.Replace(listen, exampleMade, exampleEpisode, 1),
		"a recording": "/api/live/recordings/" + exampleMade + "?" + ticket, "another show": strings.Replace(listen, "diwan", "night", 1),
	} {
		if code, _, body := r.call(t, "GET", address, ""); code != 401 {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
}
