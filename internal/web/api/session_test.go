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
