package api_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/library/art"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/web/api"
)

var curlLine = regexp.MustCompile(`^curl (?:-H "\$KEY" )?(?:-X (\w+) )?"?\$AT([^\s"]+)"?(?: --json '([^']*)'| --data-binary @([\w.]+))?$`)

// exampleJob is the job that the manual speaks of.
const exampleJob = "0a1b2c3d4e5f"

// Every example of the manuals works as it stands there, each route has one, and
// the configuration it shows is the default.
func TestManualsAreTrue(t *testing.T) {
	text, err := os.ReadFile("../../../docs/station-control.md")
	if err != nil {
		t.Fatal(err)
	}
	production, err := os.ReadFile("../../../docs/production.md")
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := os.ReadFile("../../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	talk, err := os.ReadFile("../../../docs/chat.md")
	if err != nil {
		t.Fatal(err)
	}
	audience := ""
	for _, name := range []string{"telemetry.md", "reactions.md", "requests.md", "channels.md", "live-control.md", "carts.md", "social.md", "alarms.md", "people.md", "library.md", "playlists.md", "import.md", "queue.md", "face.md", "history.md", "podcasts.md"} {
		text, err := os.ReadFile("../../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		audience += string(text)
	}
	r := newRigWithKey(t, "open-sesame")
	submitter := r.examplePosts(t)
	r.art.set("music/english/2.mp3", "", art.Lyrics{Text: "one line"})
	examples := strings.NewReplacer(slices.Concat(r.exampleHook(t), r.exampleUser(t), r.exampleArrivals(t), r.exampleImport(t), r.exampleChange(t), r.exampleShows(t), []string{exampleJob, r.job(t).ID, exampleSubmitter, submitter, "$AT", r.URL})...)
	names := strings.NewReplacer(exampleJob, "{id}", exampleUser, "{id}", exampleKey, "{key}", exampleBrowser, "{session}", exampleHook, "{id}", exampleDelivery, "{delivery}",
		"/messages/m3", "/messages/{id}", "/comments/c1", "/comments/{id}", "/chat/rooms/main", "/chat/rooms/{room}",
		"/requests/1/", "/requests/{id}/", "/channels/fairuz", "/channels/{id}", "/channels/main", "/channels/{id}",
		"/sources/"+exampleStream, "/sources/{id}", "/publishers/"+examplePublisher, "/publishers/{id}", "/recordings/"+exampleRecording, "/recordings/{name}",
		"/audio/"+exampleRehearsal, "/audio/{id}",
		"/posts/7/", "/posts/{id}/", "/posts/5/", "/posts/{id}/", exampleSubmitter, "{id}", "/deeds/1/", "/deeds/{id}/", "/deeds/8/", "/deeds/{id}/", "/playlists/1", "/playlists/{id}", "/playlists/3", "/playlists/{id}", exampleArrival, "{id}", exampleRefused, "{id}", exampleTaken, "{id}", exampleImport, "{id}",
		"/podcasts/"+exampleShow, "/podcasts/{show}", "/podcasts/night", "/podcasts/{show}", exampleEpisode, "{id}", exampleMade, "{id}")
	shown := map[string]bool{}
	for line := range strings.Lines(string(text) + string(production) + string(hooks) + string(talk) + audience) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "curl ") {
			continue
		}
		m := curlLine.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("cannot read %s", line)
			continue
		}
		method, path, body, file := m[1], m[2], m[3], m[4]
		if method == "" && body != "" {
			method = "POST"
		} else if method == "" {
			method = "GET"
		}
		bare, _, _ := strings.Cut(path, "?")
		shown[method+" "+names.Replace(bare)] = true
		path, body = examples.Replace(path), examples.Replace(body)
		var headers []string
		if strings.Contains(line, `"$KEY"`) {
			headers = append(headers, "X-Station-Key", "open-sesame")
		}
		if body != "" {
			headers = append(headers, "Content-Type", "application/json")
		}
		if file != "" {
			body = exampleFile(t, file)
			headers = append(headers, "Content-Type", "application/x-www-form-urlencoded") // what curl says of any file
		}
		code, head, answer := r.call(t, method, path, body, headers...)
		if code/100 != 2 {
			t.Errorf("%s\n%d %.300s", line, code, answer)
		}
		if code == 202 { // only so many may wait in a lane
			r.call(t, "GET", head.Get("Location")+"?wait=true", "", "X-Station-Key", "open-sesame")
		}
	}
	for _, row := range api.Rows() {
		// What is one's own wants a browser that is logged in.
		if (row.Right != 0 || strings.HasSuffix(row.Path, "/votes")) && !shown[row.Method+" "+row.Path] {
			t.Errorf("%s %s has no example", row.Method, row.Path)
		}
	}

	_, after, _ := strings.Cut(string(text), "### The whole object")
	_, after, _ = strings.Cut(after, "```json\n")
	object, rest, _ := strings.Cut(after, "```")
	var said, is map[string]any
	if err := json.Unmarshal([]byte(object), &said); err != nil {
		t.Fatal(err)
	}
	defaults, err := json.Marshal(policy.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(defaults, &is); err != nil || !reflect.DeepEqual(said, is) {
		t.Errorf("the defaults are\n%s, the manual says\n%s", defaults, object)
	}
	for name := range is["ROTATION"].(map[string]any) {
		if !strings.Contains(rest, name) && !strings.Contains(rest, strings.TrimPrefix(name, "SIG_JINGLE")) {
			t.Errorf("%s is not explained", name)
		}
	}
}
