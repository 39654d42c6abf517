package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/web/api"
)

const goodPassword = "the river was low in August"

// user is somebody with goodPassword.
func (r *rig) user(t *testing.T, login string, role people.Role) people.User {
	t.Helper()
	in, err := r.people.Add(t.Context(), people.User{Login: login, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	u, err := r.people.Accept(t.Context(), in.Token, goodPassword)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// session is the Cookie header of somebody who is logged in.
func (r *rig) session(t *testing.T, login string, role people.Role) string {
	t.Helper()
	begun, err := r.people.Begin(t.Context(), r.user(t, login, role).ID, "Firefox")
	if err != nil {
		t.Fatal(err)
	}
	return "athir=" + begun.Token
}

// What the manual speaks of.
const exampleUser, exampleKey, exampleBrowser = "q5n2wz7kda", "k4yqmb2zra", "s7hd3xw5ne"

// exampleUser makes them, and returns their names in the manual and here.
func (r *rig) exampleUser(t *testing.T) []string {
	t.Helper()
	r.user(t, "omar", people.Owner)
	u := r.user(t, "nour", people.Presenter)
	key, err := r.people.AddKey(t.Context(), people.Key{User: u.ID, Name: "scripts"})
	if err != nil {
		t.Fatal(err)
	}
	begun, err := r.people.Begin(t.Context(), u.ID, "Firefox")
	if err != nil {
		t.Fatal(err)
	}
	return []string{exampleUser, u.ID, exampleKey, key.ID, exampleBrowser, begun.ID}
}

func (r *rig) sendAs(t *testing.T, method, path string, body any, headers ...string) (int, http.Header, map[string]any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	code, head, answer := r.call(t, method, path, string(text), append(headers, "Content-Type", "application/json")...)
	out := map[string]any{}
	if answer != "" {
		if err := json.Unmarshal([]byte(answer), &out); err != nil {
			t.Fatalf("%s %s: %s", method, path, answer)
		}
	}
	return code, head, out
}

// What each role may do is the table of the routes, and nothing else: as a browser and with a
// key of the role.
func TestEachRoleGivesItsOrdersAndNoOthers(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	r.user(t, "omar", people.Owner)
	for _, role := range people.Roles() {
		cookie := r.session(t, "one."+string(role), role)
		users := r.people.List()
		made, err := r.people.AddKey(t.Context(), people.Key{User: users[len(users)-1].ID, Name: "scripts"})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range api.Rows() {
			right := row.Right
			if right == 0 || strings.HasPrefix(row.Path, "/api/people/{id}") {
				continue
			}
			for what, headers := range map[string][]string{"session": {"Cookie", cookie}, "key": {"X-Station-Key", made.Secret}} {
				// The body is refused for what it is, or not looked at.
				code, _, body := r.call(t, row.Method, row.Path, `{"no":`, headers...)
				if may := role.Rights().Has(right); may != (code != http.StatusForbidden) {
					t.Errorf("%s of a %s, %s %s: %d %s", what, role, row.Method, row.Path, code, body)
				}
				if code == http.StatusForbidden && !strings.Contains(body, `"code":"right"`) {
					t.Errorf("%s %s does not say which role may: %s", row.Method, row.Path, body)
				}
			}
		}
	}
}

// Which right a route asks for is written down twice: a row that loses its guard, or gets a
// weaker one, differs from what is here.
func TestRoutesAskForTheRightThatIsWrittenDown(t *testing.T) {
	for _, row := range api.Rows() {
		if !row.BehindKey {
			continue
		}
		if got, want := row.Right, writtenDown(row.Method, row.Path); got != want {
			t.Errorf("%s %s asks for %v, want %v", row.Method, row.Path, got.Names(), want.Names())
		}
	}
}

func writtenDown(method, path string) people.Right {
	const station = "/api/station/"
	own := []string{"/api/people", station + "webhooks", station + "alarms/test", station + "import"}
	moderate := []string{station + "chat", "/api/social"}
	look := []string{"config", "clocks", "mood", "singers", "queries", "rules", "telemetry/airings", "telemetry/tracks", "telemetry/audience", "telemetry/royalties", "library", "library/views", "library/track", "playlists", "playlists/{id}", "playlists/{id}/items", "queue", "face", "podcasts"}
	air := []string{"skip", "play", "rotation/rebuild", "live/register", "live/remove", "live/vote", "live/start", "live/stop", "live/hand", "live/blacklist", "live/wrapup", "live/show", "live/show/end", "live/kick", "live/hold", "carts/fire", "carts/stop", "queue/edit", "queue/undo"}
	inside := []string{
		"GET " + station + "state", "GET " + station + "guard", "GET " + station + "alarms", "GET " + station + "live", "GET " + station + "live/sources/{id}/listen",
		"GET " + station + "live/publishers", "GET " + station + "live/recordings", "GET " + station + "live/recordings/{name}", "POST " + station + "live/recordings/{name}/ticket",
		"GET " + station + "carts", "GET " + station + "requests", "GET /api/jobs", "GET /api/jobs/{id}",
		"GET " + station + "library/export", "GET " + station + "library/deeds", "GET " + station + "library/peaks", "POST " + station + "library/audio/ticket",
		"GET " + station + "config/history",
		"GET " + station + "podcasts/{show}/episodes", "GET " + station + "podcasts/{show}/episodes/{id}", "GET " + station + "podcasts/{show}/offers",
		"GET " + station + "playlists/deeds", "GET " + station + "playlists/{id}/export",
		"GET " + station + "library/archived", "GET " + station + "library/quarantine", "GET " + station + "library/intake", "POST " + station + "library/intake/{id}/ticket",
	}
	begins := func(prefix string) bool { return strings.HasPrefix(path, prefix) }
	name := strings.TrimPrefix(path, station)
	switch {
	case begins("/api/account"), begins("/api/session"):
		return 0 // one's own
	case slices.ContainsFunc(own, begins):
		return people.Own
	case slices.ContainsFunc(moderate, begins):
		return people.Moderate
	case path == station+"requests/open", path == station+"requests/{id}/refuse":
		return people.Requests
	case slices.Contains(inside, method+" "+path):
		return people.Inside
	case method == "GET" && slices.Contains(look, name), name == "queue/check":
		return people.Look
	case method == "POST" && (slices.Contains(air, name) || path == "/api/channels/{id}/queue"):
		return people.Air
	}
	return people.Programme
}

// The roles, by what somebody comes to do.
func TestWhatRolesAreFor(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	r.user(t, "omar", people.Owner)
	cookies := map[people.Role]string{}
	for _, role := range people.Roles() {
		cookies[role] = r.session(t, "one."+string(role), role)
	}
	for order, may := range map[string][]people.Role{
		"GET /api/people":                       {people.Owner},
		"GET /api/station/webhooks":             {people.Owner},
		"POST /api/station/config/save":         {people.Owner, people.Programmer},
		"GET /api/station/log?name=server":      {people.Owner, people.Programmer},
		"POST /api/station/skip":                {people.Owner, people.Programmer, people.Presenter},
		"POST /api/station/queue/edit":          {people.Owner, people.Programmer, people.Presenter},
		"GET /api/station/chat/words":           {people.Owner, people.Programmer, people.Moderator},
		"GET /api/social/posts?status=pending":  {people.Owner, people.Programmer, people.Moderator},
		"GET /api/station/podcasts":             people.Roles(),
		"PUT /api/station/podcasts/diwan":       {people.Owner, people.Programmer},
		"POST /api/social/sync":                 {people.Owner, people.Programmer, people.Moderator},
		"PUT /api/station/requests/open":        {people.Owner, people.Programmer, people.Moderator, people.Presenter},
		"GET /api/station/config":               people.Roles(),
		"GET /api/station/live":                 people.Roles(),
		"GET /api/station/telemetry/airings":    people.Roles(),
		"GET /api/station/telemetry/tracks":     people.Roles(),
		"GET /api/station/requests":             people.Roles(),
		"POST /api/station/rotation/rebuild":    {people.Owner, people.Programmer, people.Presenter},
		"POST /api/bulletin/generate":           {people.Owner, people.Programmer},
		"POST /api/station/bulletin/preview":    {people.Owner, people.Programmer},
		"POST /api/station/chat/lift":           {people.Owner, people.Programmer, people.Moderator},
		"DELETE /api/station/chat/messages/one": {people.Owner, people.Programmer, people.Moderator},
	} {
		method, path, _ := strings.Cut(order, " ")
		for role, cookie := range cookies {
			code, _, body := r.call(t, method, path, "", "Cookie", cookie)
			if slices.Contains(may, role) == (code == http.StatusForbidden || code == http.StatusUnauthorized) {
				t.Errorf("%s by a %s: %d %s", order, role, code, body)
			}
		}
	}
}

func (r *rig) orders(t *testing.T) []people.Order {
	t.Helper()
	list, err := r.people.Orders(t.Context(), "", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// On an open station nobody makes a way in that stays once it has a key; and posts are not
// opened by a role that anybody could have given.
func TestAnOpenStationMakesNoWaysIn(t *testing.T) {
	r := newRig(t)
	cookie := []string{"Cookie", r.session(t, "omar", people.Viewer)}
	id := r.people.List()[0].ID
	for order, body := range map[string]any{
		"POST /api/people":                           map[string]any{"login": "nour", "role": "owner"},
		"PUT /api/people/" + id:                      map[string]any{"role": "owner"},
		"POST /api/people/" + id + "/invite":         map[string]any{},
		"POST /api/people/" + id + "/factors/remove": map[string]any{},
		"POST /api/account/keys":                     map[string]any{"name": "scripts", "role": "viewer", "password": goodPassword},
	} {
		method, path, _ := strings.Cut(order, " ")
		if code, _, answer := r.sendAs(t, method, path, body, cookie...); code != http.StatusConflict || !strings.Contains(fmt.Sprint(answer["detail"]), "station_key") {
			t.Errorf("%s: %d %v", order, code, answer)
		}
	}
	if code, _, _ := r.sendAs(t, "POST", "/api/station/skip", map[string]any{}, cookie...); code != 200 {
		t.Errorf("an order on an open station: %d", code)
	}
	if code, _, _ := r.call(t, "GET", "/api/social/posts?status=pending", "", cookie...); code != http.StatusForbidden {
		t.Errorf("the posts of an open station by a viewer: %d", code)
	}
}

// Whoever may only look cannot fill the log of orders, and its pages go on to its end.
func TestLookingIsNoOrder(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	r.user(t, "omar", people.Owner)
	cookie := []string{"Cookie", r.session(t, "nour", people.Viewer)}
	r.call(t, "POST", "/api/station/live/recordings/"+exampleRecording+"/ticket", "", cookie...)
	r.call(t, "POST", "/api/session/ticket", "", cookie...)
	r.call(t, "HEAD", "/api/station/state", "", cookie...)
	r.call(t, "GET", "/api/station/state", "", cookie...)
	if orders := r.orders(t); len(orders) != 0 {
		t.Errorf("%+v", orders)
	}
	for range 501 {
		r.people.Ordered(people.Caller{Way: people.ByStationKey}, people.Order{Order: "POST /api/station/skip"})(200, "")
	}
	_, _, page := r.sendAs(t, "GET", "/api/people/orders?limit=500", nil, "X-Station-Key", "open-sesame")
	next, _ := page["next"].(float64)
	_, _, last := r.sendAs(t, "GET", fmt.Sprintf("/api/people/orders?limit=500&before=%.0f", next), nil, "X-Station-Key", "open-sesame")
	if len(page["orders"].([]any)) != 500 || len(last["orders"].([]any)) != 1 || last["next"] != 0.0 {
		t.Errorf("pages of %d, then %d, next %v, %v", len(page["orders"].([]any)), len(last["orders"].([]any)), page["next"], last["next"])
	}
}

// What a body is sent as does not keep it out of the log.
func TestTheLogHasWhatWasOrderedHoweverItWasSent(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	for kind, want := range map[string]string{"": `{"mood":"calm"}`, "Application/JSON": `{"mood":"calm"}`, "text/plain": ""} {
		r.call(t, "PUT", "/api/station/mood", `{"mood":"calm"}`, "X-Station-Key", "open-sesame", "Content-Type", kind)
		if o := r.orders(t)[0]; want != "" && o.Detail != want {
			t.Errorf("as %q: %+v", kind, o)
		}
	}
	r.call(t, "PUT", "/api/station/mood", `{"mood":"calm"`+strings.Repeat(" ", 70<<10)+`}`, "X-Station-Key", "open-sesame", "Content-Type", "application/json")
	if o := r.orders(t)[0]; !strings.HasSuffix(o.Detail, " bytes") {
		t.Errorf("a long one: %+v", o)
	}
}

func TestLookingWithoutAKey(t *testing.T) {
	for _, look := range []bool{false, true} {
		r := newRigWith(t, func(o *api.Options) { o.StationKey, o.Look = secret.Of("open-sesame"), look })
		for _, row := range api.Rows() {
			if row.Right == 0 || row.Method != "GET" {
				continue
			}
			want := look && row.Right == people.Look
			if code, _, body := r.call(t, "GET", row.Path, ""); want != (code != 401 && code != 403) {
				t.Errorf("look: %t, GET %s: %d %s", look, row.Path, code, body)
			}
		}
		if code, _, _ := r.call(t, "PUT", "/api/station/mood", `{}`); code != 401 {
			t.Errorf("look: %t, an order: %d", look, code)
		}
		if said := r.json(t, "/api/session"); said["look"] != look || said["user"] != nil || said["open"] != false {
			t.Errorf("%v", said)
		}
	}
}

// The log of orders has who ordered what, and no secret of it.
func TestTheLogOfOrdersHoldsNoSecret(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	cookie := r.session(t, "سارة", people.Owner)
	for path, body := range map[string]any{
		"/api/station/webhooks":      map[string]any{"url": "https://hooks.example/T0/secret-part", "events": []string{"track"}, "secret": "secret-part"},
		"/api/account/totp":          map[string]any{"password": "secret-part"},
		"/api/people":                map[string]any{"login": "nour", "name": "نور", "role": "viewer"},
		"/api/station/live/register": map[string]any{"url": "http://omar:secret-part@studio.example/live", "title": "مباشر"},
	} {
		r.sendAs(t, "POST", path, body, "Cookie", cookie)
	}
	r.call(t, "DELETE", "/api/people/nobody", "", "X-Station-Key", "open-sesame")
	orders := r.orders(t)
	if len(orders) != 4 { // to begin a second factor is none yet
		t.Fatalf("%+v", orders)
	}
	for _, o := range orders {
		if strings.Contains(o.Detail, "secret-part") {
			t.Errorf("%+v", o)
		}
		if o.Order == "POST /api/people" && (o.Detail != `{"login":"nour","name":"نور","role":"viewer"}` || o.Name != "سارة" || o.Status != 201) {
			t.Errorf("%+v", o)
		}
	}
	if o := orders[0]; o.Order != "DELETE /api/people/{id}" || o.Target != "nobody" || o.Status != 404 || o.Way != people.ByStationKey || o.User != "" {
		t.Errorf("%+v", o)
	}
	if r.lines.Count("station control", "by=سارة") == 0 {
		t.Errorf("the log does not say who: %s", r.lines)
	}
}

func TestOwnersKeepPeople(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	key := []string{"X-Station-Key", "open-sesame"}
	code, _, made := r.sendAs(t, "POST", "/api/people", map[string]any{"login": "Omar@Example.org", "name": "عمر", "role": "owner"}, key...)
	token, _ := made["token"].(string)
	if code != 201 || token == "" {
		t.Fatalf("%d %v", code, made)
	}
	if code, _, body := r.sendAs(t, "POST", "/api/people", map[string]any{"login": "omar@example.org", "role": "viewer"}, key...); code != 409 {
		t.Errorf("the same login: %d %v", code, body)
	}
	if code, _, body := r.sendAs(t, "POST", "/api/people", map[string]any{"login": "om ar", "role": "viewer"}, key...); code != 422 || !strings.Contains(string(must(json.Marshal(body))), "body.login") {
		t.Errorf("a login with a space: %d %v", code, body)
	}
	if code, _, body := r.sendAs(t, "POST", "/api/session/invitation", map[string]any{"token": token}); code != 200 || body["name"] != "عمر" {
		t.Errorf("%d %v", code, body)
	}
	if code, _, body := r.sendAs(t, "POST", "/api/session/invitation/accept", map[string]any{"token": token, "password": "short"}); code != 422 || !strings.Contains(string(must(json.Marshal(body))), "body.password") {
		t.Errorf("a short password: %d %v", code, body)
	}
	code, head, body := r.sendAs(t, "POST", "/api/session/invitation/accept", map[string]any{"token": token, "password": goodPassword})
	cookie, _, _ := strings.Cut(head.Get("Set-Cookie"), ";")
	if code != 200 || cookie == "" || body["users"] != true {
		t.Fatalf("%d %v %v", code, head, body)
	}
	if code, _, _ := r.sendAs(t, "POST", "/api/session/invitation", map[string]any{"token": token}); code != 404 {
		t.Errorf("the link after it was used: %d", code)
	}
	user, _ := made["user"].(map[string]any)
	one := "/api/people/" + user["id"].(string)
	if code, _, body := r.sendAs(t, "PUT", one, map[string]any{"locked": true}, "Cookie", cookie); code != 409 {
		t.Errorf("the last owner locks itself: %d %v", code, body)
	}
	if code, _, body := r.sendAs(t, "GET", one, nil, "Cookie", cookie); code != 200 || len(body["sessions"].([]any)) != 1 {
		t.Errorf("%d %v", code, body)
	}
	viewer := r.session(t, "nour", people.Viewer)
	list := r.people.List()
	if code, _, _ := r.sendAs(t, "PUT", "/api/people/"+list[1].ID, map[string]any{"locked": true}, "Cookie", cookie); code != 200 {
		t.Fatal(code)
	}
	if code, _, _ := r.call(t, "GET", "/api/station/config", "", "Cookie", viewer); code != 401 {
		t.Errorf("a locked user looks: %d", code)
	}
	for _, o := range []string{"DELETE " + one + "/sessions/none", "DELETE " + one + "/keys/none", "DELETE /api/people/none", "POST /api/people/none/invite", "POST /api/people/none/factors/remove"} {
		method, path, _ := strings.Cut(o, " ")
		if code, _, body := r.sendAs(t, method, path, map[string]any{}, key...); code != 404 {
			t.Errorf("%s: %d %v", o, code, body)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
