package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/pquerna/otp/totp"

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
		"GET /api/station/chat/words":           {people.Owner, people.Programmer, people.Moderator},
		"GET /api/social/posts?status=pending":  {people.Owner, people.Programmer, people.Moderator},
		"POST /api/social/sync":                 {people.Owner, people.Programmer, people.Moderator},
		"GET /api/station/config":               people.Roles(),
		"GET /api/station/live":                 people.Roles(),
		"GET /api/station/telemetry/airings":    people.Roles(),
		"GET /api/station/requests":             people.Roles(),
		"POST /api/station/rotation/rebuild":    {people.Owner, people.Programmer, people.Presenter},
		"POST /api/bulletin/generate":           {people.Owner, people.Programmer},
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

func TestABrowserLogsInAndOut(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	r.user(t, "omar", people.Owner)
	for _, c := range []struct{ proto, name, more string }{{"http", "athir", ""}, {"https", "__Host-athir", "; Secure"}} {
		code, head, body := r.sendAs(t, "POST", "/api/session", map[string]any{"login": "Omar ", "password": goodPassword}, "X-Forwarded-Proto", c.proto)
		set := head.Get("Set-Cookie")
		pair, attributes, _ := strings.Cut(set, "; ")
		if code != 200 || !strings.HasPrefix(pair, c.name+"=") || !strings.HasPrefix(attributes, "Path=/; Expires=") || !strings.HasSuffix(attributes, "; HttpOnly"+c.more+"; SameSite=Lax") || head.Get("Cache-Control") != "no-store" {
			t.Fatalf("%s: %d %q %v", c.proto, code, set, body)
		}
		if user, _ := body["user"].(map[string]any); user["login"] != "omar" || user["role"] != "owner" || body["way"] != "session" {
			t.Errorf("%v", body)
		}
		if code, _, _ := r.call(t, "POST", "/api/station/skip", "", "Cookie", pair, "X-Forwarded-Proto", c.proto); code != 200 {
			t.Errorf("an order over %s: %d", c.proto, code)
		}
		other := map[string]string{"http": "https", "https": "http"}[c.proto]
		if code, _, _ := r.call(t, "POST", "/api/station/skip", "", "Cookie", pair, "X-Forwarded-Proto", other); code != 401 {
			t.Errorf("the cookie of %s over %s: %d", c.proto, other, code)
		}
		code, head, _ = r.call(t, "DELETE", "/api/session", "", "Cookie", pair, "X-Forwarded-Proto", c.proto)
		if code != 204 || !strings.HasPrefix(head.Get("Set-Cookie"), c.name+"=; ") {
			t.Errorf("log out: %d %v", code, head)
		}
		if code, _, _ := r.call(t, "POST", "/api/station/skip", "", "Cookie", pair, "X-Forwarded-Proto", c.proto); code != 401 {
			t.Errorf("after logging out: %d", code)
		}
	}
	code, head, body := r.sendAs(t, "POST", "/api/session", map[string]any{"login": "omar", "password": "not this one, no"})
	if reason, _ := body["reason"].(map[string]any); code != 401 || reason["code"] != "wrong" || reason["ar"] == "" || head.Get("Set-Cookie") != "" {
		t.Errorf("a wrong password: %d %v", code, body)
	}
	orders := r.orders(t)
	if len(orders) < 4 || orders[0].Order != "DELETE /api/session" || orders[1].Order != "POST /api/station/skip" || orders[2].Order != "POST /api/session" || orders[0].Name != "omar" || orders[0].Status != 204 {
		t.Errorf("%+v", orders)
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

// Another site cannot give an order by the cookie of who is logged in, nor have a browser log
// in as somebody else; a link to the studio still works.
func TestAnotherSiteGivesNoOrderByASession(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) { o.StationKey = secret.Of("open-sesame"); o.Origins = []string{"*"} })
	cookie := r.session(t, "omar", people.Owner)
	for _, row := range api.Rows() {
		if row.Right == 0 && !strings.HasPrefix(row.Path, "/api/session") && !strings.HasPrefix(row.Path, "/api/account") {
			continue
		}
		for what, from := range map[string][]string{
			"another site":               {"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
			"another host of the domain": {"Sec-Fetch-Site", "same-site"},
			"an old browser":             {"Origin", "https://evil.example"},
		} {
			code, head, body := r.call(t, row.Method, row.Path, `{}`, append(from, "Cookie", cookie, "Content-Type", "application/json")...)
			if row.Method != "GET" && code != http.StatusForbidden {
				t.Errorf("%s has %s %s: %d %s", what, row.Method, row.Path, code, body)
			}
			if head.Get("Access-Control-Allow-Credentials") != "" || strings.HasPrefix(row.Path, "/api/session") && head.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s may read %s %s", what, row.Method, row.Path)
			}
		}
	}
	if len(r.desk.told) != 0 {
		t.Errorf("told: %v", r.desk.told)
	}
	if code, _, _ := r.call(t, "GET", "/api/station/config", "", "Cookie", cookie, "Sec-Fetch-Site", "cross-site"); code != 200 {
		t.Errorf("a link: %d", code)
	}
}

// A site that the settings name may call the API with a key, and never by the session of who
// is logged in: not with orders, and not to write in the chat as the station.
func TestANamedSiteGivesNoOrderByASession(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) {
		o.StationKey, o.Origins = secret.Of("open-sesame"), []string{"https://www.radio.example", "*"}
	})
	from := []string{"Origin", "https://www.radio.example", "Sec-Fetch-Site", "same-site", "Cookie", r.session(t, "omar", people.Owner)}
	for _, order := range []string{"POST /api/station/skip", "POST /api/people", "PUT /api/account/password", "POST /api/social/sync", "POST /api/session/ticket"} {
		method, path, _ := strings.Cut(order, " ")
		if code, _, body := r.sendAs(t, method, path, map[string]any{}, from...); code != http.StatusForbidden {
			t.Errorf("%s: %d %v", order, code, body)
		}
	}
	code, _, body := r.sendAs(t, "POST", "/api/comments", map[string]any{"name": "عمر", "text": "مرحبا"}, from...)
	if comment, _ := body["comment"].(map[string]any); code != 200 || comment["staff"] == true {
		t.Errorf("a comment: %d %v", code, body)
	}
	if code, _, _ := r.sendAs(t, "POST", "/api/station/skip", map[string]any{}, append(from, "X-Station-Key", "open-sesame")...); code != 200 {
		t.Errorf("with the key: %d", code)
	}
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

// Whoever finds a browser that is logged in stays no longer than its session: a second factor,
// a passkey and a key want the password.
func TestWhatOutlastsASessionWantsThePassword(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	cookie := []string{"Cookie", r.session(t, "omar", people.Owner)}
	for order, body := range map[string]map[string]any{
		"POST /api/account/totp":        {},
		"POST /api/account/totp/remove": {},
		"POST /api/account/keys":        {"name": "scripts", "role": "owner"},
		"PUT /api/account/password":     {"old": "not this one, no"},
	} {
		method, path, _ := strings.Cut(order, " ")
		body["password"] = "not this one, no"
		if code, _, answer := r.sendAs(t, method, path, body, cookie...); code != 422 || !strings.Contains(fmt.Sprint(answer), "is not your password") {
			t.Errorf("%s: %d %v", order, code, answer)
		}
	}
	mine := totpOf(t, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
	if code, _, answer := r.sendAs(t, "PUT", "/api/account/totp", map[string]any{"secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "code": mine}, cookie...); code != 422 {
		t.Errorf("a secret of one's own: %d %v", code, answer)
	}
	_, _, begun := r.sendAs(t, "POST", "/api/account/totp", map[string]any{"password": goodPassword}, cookie...)
	given, _ := begun["secret"].(string)
	rows, _ := begun["qr"].([]any)
	if code, _, answer := r.sendAs(t, "PUT", "/api/account/totp", map[string]any{"secret": given, "code": totpOf(t, given)}, cookie...); code != 200 || len(rows) < 21 {
		t.Errorf("%d %v", code, answer)
	}
	code, _, answer := r.sendAs(t, "POST", "/api/session", map[string]any{"login": "omar", "password": goodPassword})
	if reason, _ := answer["reason"].(map[string]any); code != 401 || reason["code"] != "second_factor" {
		t.Errorf("%d %v", code, answer)
	}
	own := r.people.List()[0].ID
	if code, _, answer := r.sendAs(t, "POST", "/api/people/"+own+"/invite", map[string]any{}, cookie...); code != 409 {
		t.Errorf("a link for oneself: %d %v", code, answer)
	}
}

func totpOf(t *testing.T, secret string) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return code
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
		r.people.Ordered(t.Context(), people.Caller{Way: people.ByStationKey}, people.Order{Order: "POST /api/station/skip"})(200, "")
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

// An Authorization of a proxy's own is no wrong key.
func TestASessionWorksBehindAProxyWithItsOwnLogin(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	cookie := r.session(t, "omar", people.Owner)
	if code, _, body := r.call(t, "POST", "/api/station/skip", "", "Cookie", cookie, "Authorization", "Basic YTpi"); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	if code, _, _ := r.call(t, "POST", "/api/station/skip", "", "Cookie", cookie, "X-Station-Key", "wrong"); code != 401 {
		t.Errorf("a wrong key beside the cookie: %d", code)
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

// A session of an owner, with a ticket in place of the key, is staff of the events; that of a
// presenter speaks and does not write, and ends with the session.
func TestATicketStandsForASessionInTheEvents(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	r.user(t, "omar", people.Owner)
	for role, want := range map[people.Role][2]bool{people.Programmer: {true, true}, people.Moderator: {true, false}, people.Presenter: {false, true}, people.Viewer: {false, false}} {
		cookie := r.session(t, "one."+string(role), role)
		code, _, body := r.sendAs(t, "POST", "/api/session/ticket", map[string]any{}, "Cookie", cookie)
		ticket, _ := body["ticket"].(string)
		who, err := r.api.Staff(ticket, "198.51.100.1", true)
		writes, speaks := who.Rights.Has(people.Moderate), who.Rights.Has(people.Air)
		if code != 200 || [2]bool{writes, speaks} != want || err != nil {
			t.Errorf("%s: %d, writes %t, speaks %t, %v", role, code, writes, speaks, err)
		}
		if who, _ := r.api.Staff(ticket+"a", "198.51.100.1", false); who.Rights != 0 {
			t.Errorf("%s: another ticket is taken", role)
		}
		r.call(t, "DELETE", "/api/session", "", "Cookie", cookie)
		if who, _ := r.api.Staff(ticket, "198.51.100.1", false); who.Rights != 0 {
			t.Errorf("%s: the ticket outlives its session", role)
		}
	}
}

// A passkey is made and logs in, at the station's own name alone, and once.
func TestAPasskeyLogsIn(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	cookie := r.session(t, "omar", people.Owner)
	here := []string{"Host", "radio.example", "X-Forwarded-Proto", "https"}
	overTLS := "__Host-" + cookie
	site := virtualwebauthn.RelyingParty{Name: "أثير", ID: "radio.example", Origin: "https://radio.example"}
	phone := virtualwebauthn.NewAuthenticator()
	credential := paddedCredential()
	as := append(slices.Clone(here), "Cookie", overTLS)

	if code, _, body := r.sendAs(t, "POST", "/api/account/passkeys/begin", map[string]any{"password": "not this one, no"}, as...); code != 422 {
		t.Errorf("without the password: %d %v", code, body)
	}
	begin := func() map[string]any {
		code, _, begun := r.sendAs(t, "POST", "/api/account/passkeys/begin", map[string]any{"password": goodPassword}, as...)
		if code != 200 {
			t.Fatalf("%d %v", code, begun)
		}
		return begun
	}
	begun := begin()
	options, err := virtualwebauthn.ParseAttestationOptions(string(must(json.Marshal(begun["options"]))))
	if err != nil {
		t.Fatal(err)
	}
	evil := site
	evil.Origin = "https://radio.example.evil"
	for _, c := range []struct {
		site virtualwebauthn.RelyingParty
		want int
	}{{evil, 422}, {site, 201}, {site, 409}} {
		answer := virtualwebauthn.CreateAttestationResponse(c.site, phone, credential, *options)
		code, _, body := r.sendAs(t, "POST", "/api/account/passkeys", map[string]any{"state": begun["state"], "name": "هاتف عمر", "answer": json.RawMessage(answer)}, as...)
		if code != c.want {
			t.Errorf("a passkey at %s: %d %v", c.site.Origin, code, body)
		}
	}
	phone.Options.UserHandle = []byte(r.people.List()[0].ID)
	phone.AddCredential(credential)

	logIn := func(site virtualwebauthn.RelyingParty, state any, options json.RawMessage) (int, http.Header) {
		parsed, err := virtualwebauthn.ParseAssertionOptions(string(options))
		if err != nil {
			t.Fatal(err)
		}
		answer := virtualwebauthn.CreateAssertionResponse(site, phone, credential, *parsed)
		code, head, _ := r.sendAs(t, "POST", "/api/session/passkey", map[string]any{"state": state, "answer": json.RawMessage(answer)}, here...)
		return code, head
	}
	_, _, asked := r.sendAs(t, "POST", "/api/session/passkey/begin", map[string]any{}, here...)
	wanted := json.RawMessage(must(json.Marshal(asked["options"])))
	if code, _ := logIn(evil, asked["state"], wanted); code != 401 {
		t.Errorf("at another site: %d", code)
	}
	// Another host of the domain may ask for the same passkey, and may not finish it here.
	sibling := site
	sibling.Origin = "https://evil.radio.example"
	was := here
	here = []string{"Host", "evil.radio.example", "X-Forwarded-Proto", "https"}
	if code, _ := logIn(sibling, asked["state"], wanted); code != 409 {
		t.Errorf("begun here and answered at another host of the domain: %d", code)
	}
	here = was
	code, head := logIn(site, asked["state"], wanted)
	if code != 200 || !strings.HasPrefix(head.Get("Set-Cookie"), "__Host-athir=") {
		t.Errorf("%d %v", code, head)
	}
	if code, _ := logIn(site, asked["state"], wanted); code != 409 {
		t.Errorf("the same answer twice: %d", code)
	}
	list := r.people.List()
	if u := list[0]; u.Passkeys != 1 {
		t.Errorf("%+v", u)
	}
	code, _, all := r.sendAs(t, "GET", "/api/account", nil, as...)
	keys, _ := all["passkeys"].([]any)
	if code != 200 || len(keys) != 1 {
		t.Fatalf("%d %v", code, all)
	}
	id, _ := keys[0].(map[string]any)["id"].(string)
	if code, _, _ := r.call(t, "DELETE", "/api/account/passkeys/"+url.PathEscape(id), "", as...); code != 204 {
		t.Errorf("removed: %d", code)
	}
	if code, _, body := r.sendAs(t, "POST", "/api/session/passkey/begin", map[string]any{}, "Host", "192.0.2.1"); code != 409 {
		t.Errorf("at an address without a name: %d %v", code, body)
	}
}

// paddedCredential is one whose coordinates have all their bytes: the library writes shorter
// ones as no authenticator does.
func paddedCredential() virtualwebauthn.Credential {
	for {
		c := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		if len(c.Key.AttestationData()) == 77 {
			return c
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
