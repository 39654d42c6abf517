package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
)

// send sends JSON and reads the answer as JSON.
func (r *rig) send(t *testing.T, method, path, body string) (int, map[string]any) {
	t.Helper()
	code, head, text := r.call(t, method, path, body, "Content-Type", "application/json")
	out := map[string]any{}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s %s: %d %v %.200s", method, path, code, err, text)
	}
	if is := strings.HasPrefix(head.Get("Content-Type"), "application/problem+json"); is != (code >= 400) {
		t.Errorf("%s %s: %d as %s", method, path, code, head.Get("Content-Type"))
	}
	return code, out
}

// wrong returns the places of a problem document, sorted.
func wrong(doc map[string]any) []string {
	var out []string
	fields, _ := doc["errors"].([]any)
	for _, f := range fields {
		field, _ := f.(map[string]any)
		out = append(out, fmt.Sprint(field["location"]))
		if field["message"] == "" {
			out = append(out, "without a message")
		}
	}
	slices.Sort(out)
	return out
}

// at follows names into an answer.
func at(v any, names ...string) any {
	for _, n := range names {
		m, _ := v.(map[string]any)
		v = m[n]
	}
	return v
}

func TestConfigIsMergedSavedAndReset(t *testing.T) {
	r := newRig(t)
	r.rebuilt = true
	code, out := r.send(t, "PUT", "/api/station/config", `{"ROTATION":{"BUFFER_MAX":60,"MUSIC_FRESH_MS":7.2e6},"GENRE_SPLIT":{"english":0.5,"social":null},"AD_EVERY":20}`)
	if code != 200 || out["rebuilt"] != true || out["saved"] != false {
		t.Fatalf("%d %v", code, out)
	}
	for name, c := range map[string]struct {
		got, want any
	}{
		"merged":        {at(out, "config", "ROTATION", "BUFFER_MAX"), 60.0},
		"a float of ms": {at(out, "config", "ROTATION", "MUSIC_FRESH_MS"), 7_200_000.0},
		"untouched":     {at(out, "config", "ROTATION", "REFRESH_FRACTION"), 0.85},
		"in a map":      {at(out, "config", "GENRE_SPLIT", "english"), 0.5},
		"beside it":     {at(out, "config", "GENRE_SPLIT", "arabic_hits"), 0.65},
		"taken out":     {at(out, "config", "GENRE_SPLIT", "social"), nil},
		"a plain value": {at(out, "config", "AD_EVERY"), 20.0},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if len(r.applied) != 1 || r.applied[0].Rotation.BufferMax != 60 {
		t.Errorf("applied %d times: %+v", len(r.applied), r.applied)
	}
	if _, out := r.send(t, "POST", "/api/station/config/save", ""); out["saved"] != true {
		t.Errorf("save: %v", out)
	}
	if got := r.json(t, "/api/station/config"); got["saved"] != true || at(got, "config", "AD_EVERY") != 20.0 {
		t.Errorf("config: %v", got)
	}
	if code, out := r.send(t, "POST", "/api/station/config/reset", ""); code != 200 || at(out, "config", "AD_EVERY") != 16.0 || out["saved"] != true {
		t.Errorf("reset: %d %v", code, out)
	}
}

// exampleChange is the change that the manual takes back, and one that was made.
func (r *rig) exampleChange(t *testing.T) []string {
	t.Helper()
	if _, err := r.policy.Patch(t.Context(), "omar", json.RawMessage(`{"AD_EVERY":20}`)); err != nil {
		t.Fatal(err)
	}
	return []string{"1753900000000", strconv.FormatInt(r.policy.History()[0].ID, 10)}
}

// Where edits are kept, every answer says so, and who did what can be seen and taken back.
func TestEditsAreKeptListedAndUndone(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	r.policy.Keep(policy.Keeping{Log: r.log})
	r.user(t, "omar", people.Owner)
	salma := r.session(t, "salma", people.Programmer)
	order := func(method, path string, body any) (int, map[string]any) {
		t.Helper()
		code, _, out := r.sendAs(t, method, "/api/station/"+path, body, "Cookie", salma)
		return code, out
	}
	ids := map[string]any{}
	for _, c := range []struct {
		method, path string
		body         any
		what         []any
	}{
		{"PUT", "config", map[string]any{"AD_EVERY": 20}, []any{"AD_EVERY"}},
		{"PUT", "mood", map[string]any{"mood": "party"}, []any{"MOOD"}},
		{"POST", "singers", map[string]any{"category": "english", "add": []string{"Dido"}}, []any{"SINGERS.english"}},
		{"PUT", "queries", map[string]any{"category": "english", "queries": []string{"hits"}}, []any{"QUERIES.english"}},
		{"PUT", "genres", map[string]any{"english": 0.9}, []any{"GENRE_SPLIT"}},
		{"PUT", "weights", map[string]any{"MASHUP_CHANCE": 0.3}, []any{"MASHUP_CHANCE"}},
		{"PUT", "rotation", map[string]any{"POST_EVERY": 9}, []any{"ROTATION.POST_EVERY"}},
		{"PUT", "dayparts", []any{}, []any{"DAYPARTS"}},
		{"POST", "dayparts/clear", nil, []any{"DAYPARTS"}},
		{"PUT", "clocks", []any{map[string]any{"name": "a", "hour": []any{map[string]any{"category": "music", "count": 9}}}}, []any{"CLOCKS"}},
	} {
		code, out := order(c.method, c.path, c.body)
		if code != 200 || out["saved"] != true || out["keepsEdits"] != true || out["unsaved"] != nil {
			t.Fatalf("%s %s: %d %v", c.method, c.path, code, out)
		}
		if kept, err := os.ReadFile(r.policyPath); err != nil || policy.Check(kept) != nil {
			t.Fatalf("%s %s: answered, and on disk: %v", c.method, c.path, err)
		}
		ids[c.path] = out["change"]
		_, out = order("GET", "config/history", nil)
		changes, _ := out["changes"].([]any)
		if newest := changes[0]; at(newest, "by") != "salma" || !reflect.DeepEqual(at(newest, "what"), c.what) {
			t.Errorf("%s %s: %v", c.method, c.path, newest)
		}
	}
	if code, out := order("POST", "config/undo", map[string]any{}); code != 200 || at(out, "config", "CLOCKS") != nil || out["saved"] != true || out["change"] == nil {
		t.Errorf("undo: %d %v", code, out)
	}
	if code, out := order("POST", "config/undo", map[string]any{"id": ids["mood"]}); code != 200 || at(out, "config", "MOOD") != "" || at(out, "config", "MASHUP_CHANCE") != 0.3 {
		t.Errorf("undo of the mood: %d %v", code, out)
	}
	_, out := order("GET", "config/history", nil)
	changes, _ := out["changes"].([]any)
	if len(changes) != 12 || at(changes[0], "undoes") != ids["mood"] || at(changes[10], "undone") != at(changes[0], "id") {
		t.Errorf("%v", changes)
	}
	for body, want := range map[string]int{fmt.Sprintf(`{"id":%.0f}`, ids["mood"]): 409, `{"id":99}`: 404, `{"id":-1}`: 422, `{"no":1}`: 422, `{"id":1,`: 400} {
		if code, _, text := r.call(t, "POST", "/api/station/config/undo", body, "Content-Type", "application/json", "Cookie", salma); code != want {
			t.Errorf("%s: %d %s", body, code, text)
		}
	}
	r.fail = station.ErrUnavailable
	if code, _ := order("POST", "config/undo", map[string]any{"id": ids["config"]}); code != 503 || r.policy.Current().AdEvery != 20 {
		t.Errorf("the scheduler refuses: %d, AD_EVERY %d", code, r.policy.Current().AdEvery)
	}
}

// What is in force and not on disk is told with its reason, and without a path.
func TestAnEditThatCannotBeSavedSaysSo(t *testing.T) {
	r := newRig(t)
	r.policy.Keep(policy.Keeping{Log: r.log})
	if err := os.RemoveAll(filepath.Dir(r.policyPath)); err != nil {
		t.Fatal(err)
	}
	code, out := r.send(t, "PUT", "/api/station/config", `{"AD_EVERY":20}`)
	if why, _ := out["unsaved"].(string); code != 200 || at(out, "config", "AD_EVERY") != 20.0 || out["saved"] != false || !strings.Contains(why, "no such file") {
		t.Errorf("%d %v", code, out)
	}
	if err := os.Mkdir(filepath.Dir(r.policyPath), 0o700); err != nil {
		t.Fatal(err)
	}
	if code, out := r.send(t, "POST", "/api/station/config/save", ""); code != 200 || out["saved"] != true {
		t.Errorf("save: %d %v", code, out)
	}
	if got := r.json(t, "/api/station/config"); got["saved"] != true || got["unsaved"] != nil {
		t.Errorf("config: %v", got)
	}
}

func TestEverySectionChangesItsOwnPart(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		method, path, body string
		want               any
		names              []string
	}{
		{"PUT", "genres", `{"english":0.9}`, 0.9, []string{"GENRE_SPLIT", "english"}},
		{"PUT", "weights", `{"MASHUP_CHANCE":0.2}`, 0.2, []string{"MASHUP_CHANCE"}},
		{"PUT", "weights", `{"STOCHASTIC_SFX_CHANCE":0}`, 0.0, []string{"STOCHASTIC_SFX_CHANCE"}},
		{"PUT", "rotation", `{"COOLDOWN_PERIOD":60000}`, 60000.0, []string{"ROTATION", "COOLDOWN_PERIOD"}},
		{"PUT", "rotation", `{"COOLDOWN_PERIOD":null}`, 5_400_000.0, []string{"ROTATION", "COOLDOWN_PERIOD"}},
		{"PUT", "mood", `{"mood":"party"}`, "party", []string{"MOOD"}},
		{"PUT", "mood", `{"mood":""}`, "", []string{"MOOD"}},
	} {
		code, out := r.send(t, c.method, "/api/station/"+c.path, c.body)
		if got := at(out["config"], c.names...); code != 200 || got != c.want {
			t.Errorf("%s %s: %d %v, want %v", c.path, c.body, code, got, c.want)
		}
	}
	for _, body := range []string{
		`{"dayparts":[{"start":"22:00","end":2,"weights":{"english":2}}]}`, ` [{"start":"22:00","end":"02:00","weights":{"english":2}}]`,
	} {
		code, out := r.send(t, "PUT", "/api/station/dayparts", body)
		parts, _ := at(out, "config", "DAYPARTS").([]any)
		if code != 200 || len(parts) != 1 || at(parts[0], "end") != "02:00" || at(parts[0], "weights", "english") != 2.0 {
			t.Errorf("%s: %d %v", body, code, out)
		}
	}
	if _, out := r.send(t, "PUT", "/api/station/dayparts", `[]`); len(at(out, "config", "DAYPARTS").([]any)) != 0 {
		t.Errorf("no windows: %v", out)
	}
	if _, out := r.send(t, "POST", "/api/station/dayparts/clear", ``); at(out, "config", "DAYPARTS") != nil {
		t.Errorf("the built-in windows: %v", out)
	}
	code, out := r.send(t, "PUT", "/api/station/clocks",
		`{"clocks":[{"name":"top","days":["fri"],"start":"00:00","end":"24:00","hour":[{"category":"news","at":"00:00","tolerance":20},{"category":"music","count":3}]}]}`)
	if code != 200 {
		t.Fatalf("clocks: %d %v", code, out)
	}
	clocks := r.json(t, "/api/station/clocks")["clocks"].([]any)
	if hour := at(clocks[0], "hour").([]any); at(hour[0], "at") != "00:00" || at(clocks[0], "days").([]any)[0] != "fri" {
		t.Errorf("clocks: %v", clocks)
	}
	if m := r.json(t, "/api/station/mood"); m["mood"] != "" || len(m["moods"].([]any)) != 6 {
		t.Errorf("moods: %v", m)
	}
}

// Each answer names every wrong field, at its place in what was sent.
func TestEveryWrongFieldHasItsPlace(t *testing.T) {
	r := newRig(t)
	before := r.json(t, "/api/station/config")
	for _, c := range []struct {
		path, body string
		want       []string
	}{
		{"config", `{"ROTATION":{"BUFFER_MAX":0,"SIG_JINGLE_MIN":1},"GENRE_SPLIT":{"english":"x"},"MASHUP_CHANCE":2,"NOPE":1}`,
			[]string{"body.GENRE_SPLIT.english", "body.MASHUP_CHANCE", "body.NOPE", "body.ROTATION.BUFFER_MAX", "body.ROTATION.SIG_JINGLE_MIN"}},
		{"config", `{"MOOD":"sad","AD_EVERY":-1}`, []string{"body.AD_EVERY", "body.MOOD"}},
		{"config", `[]`, []string{"body"}}, {"config", `"x"`, []string{"body"}}, {"config", `null`, []string{"body"}},
		{"config", `{"AD_EVERY":1,"AD_EVERY":2}`, []string{"body.AD_EVERY"}},
		{"config", `{"MASHUP_CHANCE":1e999}`, []string{"body.MASHUP_CHANCE"}},
		{"config", `{"ROTATION":{"BUFFER_MAX":1e999,"MIN_REST_MS":-1e300}}`, []string{"body.ROTATION.BUFFER_MAX", "body.ROTATION.MIN_REST_MS"}},
		{"config", `{"ROTATION":{"BUFFER_MAX":1.5}}`, []string{"body.ROTATION.BUFFER_MAX"}},
		{"config", `{"ROTATIΟN":{},"rotation":{},"__proto__":{}}`, []string{"body.ROTATIΟN", "body.__proto__", "body.rotation"}}, // a Greek Ο
		{"config", `{"GENRE_SPLIT":{"":1,"a.b":1,"\u202e":1,"ads":1}}`,
			[]string{"body.GENRE_SPLIT.", "body.GENRE_SPLIT.a.b", "body.GENRE_SPLIT.ads", "body.GENRE_SPLIT.\u202e"}},
		{"genres", `{"english":-1,"mashups":1}`, []string{"body.english", "body.mashups"}},
		{"genres", `[1]`, []string{"body"}},
		{"weights", `{"MASHUP_CHANCE":-1,"STOCHASTIC_SFX_CHANCE":"often","more":1}`,
			[]string{"body.MASHUP_CHANCE", "body.STOCHASTIC_SFX_CHANCE", "body.more"}},
		{"rotation", `{"REFRESH_FRACTION":0,"SIG_JINGLE_MAX_SLOTS":1,"SAME_HOUR":"no"}`,
			[]string{"body.REFRESH_FRACTION", "body.SAME_HOUR", "body.SIG_JINGLE_MAX_SLOTS"}},
		{"dayparts", `{"dayparts":[{"start":"25:00","end":"02:00"},{"start":"01:00","end":"02:00","hard":"ads","wat":1}]}`,
			[]string{"body.dayparts[0].start", "body.dayparts[1].hard", "body.dayparts[1].wat"}},
		{"dayparts", `[{"start":"01:00","end":"02:00","weights":{"ads":1}}]`, []string{"body[0].weights.ads"}},
		{"dayparts", `[{"name":"gate","start":"02:00","end":"05:00","hard":"english"},{"start":"04:00","end":"06:00"}]`, []string{"body[1].start"}},
		{"config", `{"DAYPARTS":[{"start":"23:00","end":"03:00","hard":"mashups"},{"start":"02:00","end":"05:00","hard":"english"}]}`,
			[]string{"body.DAYPARTS[1].start"}},
		{"dayparts", `{"windows":[],"x":1}`, []string{"body.dayparts", "body.windows", "body.x"}},
		{"dayparts", `"all day"`, []string{"body"}},
		{"clocks", `[{"name":"c","start":"00:00","end":"24:00","hour":[{"category":"noise"},{"category":"news","at":"60:00"}]}]`,
			[]string{"body[0].hour[0].category", "body[0].hour[1].at"}},
		{"mood", `{"mood":"sad"}`, []string{"body.mood"}}, {"mood", `{}`, []string{"body.mood"}},
		{"queries", `{"category":"nope"}`, []string{"body.category", "body.queries"}},
		{"queries", `{"category":"english","queries":["a","","b\u0000"]}`, []string{"body.queries[1]", "body.queries[2]"}},
	} {
		code, doc := r.send(t, "PUT", "/api/station/"+c.path, c.body)
		if got := wrong(doc); code != 422 || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %d %v, want %v", c.path, c.body, code, got, c.want)
		}
	}
	// A window that is gone can make a clock wrong that named it: no field of the body.
	if code, out := r.send(t, "PUT", "/api/station/clocks", `[{"name":"c","daypart":"late","start":"00:00","end":"24:00","hour":[{"category":"music"}]}]`); code != 200 {
		t.Fatalf("a clock: %d %v", code, out)
	}
	if code, doc := r.send(t, "PUT", "/api/station/dayparts", `[]`); code != 422 || !slices.Equal(wrong(doc), []string{"config.CLOCKS[0].daypart"}) {
		t.Errorf("%d %v", code, doc)
	}
	r.send(t, "PUT", "/api/station/clocks", `null`)
	if after := r.json(t, "/api/station/config"); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("something was changed: %v", after)
	}
}

func TestBodiesThatAttack(t *testing.T) {
	r := newRig(t)
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"nothing":              {``, 400},
		"NaN":                  {`{"MASHUP_CHANCE":NaN}`, 400},
		"no JSON":              {`{"MASHUP_CHANCE":0.1`, 400},
		"two documents":        {`{"AD_EVERY":1}{"AD_EVERY":2}`, 400},
		"a way out of a part":  {`{}},"MOOD":"party"`, 400},
		"no UTF-8":             {"{\"\xff\xfe\":1}", 422},
		"deep":                 {strings.Repeat(`{"ROTATION":`, 5000) + `1` + strings.Repeat(`}`, 5000), 422},
		"deeper":               {strings.Repeat(`[`, 500_000), 400},
		"deepest and complete": {strings.Repeat(`[`, 500_000) + strings.Repeat(`]`, 500_000), 400},
		"2 MiB":                {`{"x":"` + strings.Repeat("x", 2<<20) + `"}`, 413},
		"many unknown members": {`{` + strings.TrimSuffix(strings.Repeat(`"n":1,`, 150_000), ",") + `}`, 422},
	} {
		for _, path := range []string{"config", "dayparts", "weights"} {
			code, _, text := r.call(t, "PUT", "/api/station/"+path, c.body, "Content-Type", "application/json")
			if len(text) > 100_000 {
				t.Errorf("%s to %s: an answer of %d bytes", name, path, len(text))
			}
			if code != c.want && (code != 422 || c.want != 400) && !(code == 413 && len(c.body) >= 1<<20) {
				t.Errorf("%s to %s: %d, want %d: %.200s", name, path, code, c.want, text)
			}
		}
	}
	// Validation repeats what it refuses: one MiB must not be answered by a thousand.
	var b strings.Builder
	b.WriteString(`{"delta":1`)
	for i := range 60_000 {
		fmt.Fprintf(&b, `,"n%d":1`, i)
	}
	b.WriteString("}")
	for _, q := range [][2]string{{"POST", "/metadata"}, {"PUT", "/api/station/weights"}, {"POST", "/api/station/play"}} {
		code, _, text := r.call(t, q[0], q[1], b.String(), "Content-Type", "application/json", "X-Sync-Token", "sesame")
		if code != 422 || len(text) > 100_000 {
			t.Errorf("%s: %d with %d bytes", q[1], code, len(text))
		}
	}
	if code, _, text := r.call(t, "POST", "/api/upnext/votes", b.String()); code != 413 {
		t.Errorf("a listener's body of 600 KB: %d %.200s", code, text)
	}
	if code, _, _ := r.call(t, "PUT", "/api/station/weights", `MASHUP_CHANCE=1`, "Content-Type", "application/x-www-form-urlencoded"); code != 415 {
		t.Errorf("a form: %d", code)
	}
	if len(r.applied) > 0 {
		t.Errorf("something was applied: %+v", r.applied)
	}
}

func TestSingersAndQueriesAreEdited(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		body string
		want []any
	}{
		{`{"category":"arabic_hits","add":["أم كلثوم","فيروز"]}`, []any{"أم كلثوم", "فيروز"}},
		{`{"category":"arabic_hits","add":["ام كلثوم"]}`, []any{"أم كلثوم", "فيروز"}}, // one singer in two spellings
		{`{"category":"arabic_hits","remove":["ام كلثوم"]}`, []any{"فيروز"}},
		{`{"category":"arabic_hits","replace":["عمرو دياب"]}`, []any{"عمرو دياب"}},
		{`{"category":"arabic_hits","replace":[]}`, nil},
	} {
		code, out := r.send(t, "POST", "/api/station/singers", c.body)
		got, _ := at(out, "singers", "arabic_hits").([]any)
		if code != 200 || !slices.Equal(got, c.want) {
			t.Errorf("%s: %d %v", c.body, code, out)
		}
	}
	for body, want := range map[string][]string{
		`{"category":"arabic_hits"}`:                               {"body"},
		`{"category":"arabic_hits","add":["x"],"remove":["y"]}`:    {"body"},
		`{"category":"arabic_hits","add":["x",""]}`:                {"body.add[1]"},
		`{"category":"jazz","replace":["x"],"more":1}`:             {"body.category", "body.more"},
		`{"category":"arabic_hits","add":["` + "\u202e" + `abc"]}`: {"body.add[0]"},
	} {
		if code, doc := r.send(t, "POST", "/api/station/singers", body); code != 422 || !slices.Equal(wrong(doc), want) {
			t.Errorf("%s: %d %v", body, code, doc)
		}
	}
	if code, out := r.send(t, "PUT", "/api/station/queries", `{"category":"english","queries":["top 40 egypt"]}`); code != 200 || out["saved"] != false {
		t.Errorf("queries: %d %v", code, out)
	}
	if q := at(r.json(t, "/api/station/queries"), "queries", "english").([]any); len(q) != 1 {
		t.Errorf("queries: %v", q)
	}
	if s := r.json(t, "/api/station/singers"); len(s["singers"].(map[string]any)) != 0 {
		t.Errorf("singers: %v", s)
	}
}

// A change that the scheduler cannot take is not in force, and the caller
// learns nothing of our disks.
func TestAChangeThatFailsChangesNothing(t *testing.T) {
	r := newRig(t)
	r.fail = errors.New("disk full at /srv/secret")
	if code, doc := r.send(t, "PUT", "/api/station/rotation", `{"BUFFER_MAX":60}`); code != 500 || strings.Contains(fmt.Sprint(doc), "secret") {
		t.Errorf("%d %v", code, doc)
	}
	if text := r.lines.String(); !strings.Contains(text, "disk full") {
		t.Errorf("the log does not say why: %s", text)
	}
	r.fail = fmt.Errorf("push playlist: %w", station.ErrUnavailable)
	code, head, _ := r.call(t, "PUT", "/api/station/rotation", `{"BUFFER_MAX":60}`)
	if code != http.StatusServiceUnavailable || head.Get("Retry-After") == "" {
		t.Errorf("%d, Retry-After %q", code, head.Get("Retry-After"))
	}
	if got := r.json(t, "/api/station/config"); at(got, "config", "ROTATION", "BUFFER_MAX") != 120.0 {
		t.Errorf("%v", got)
	}
}

// A list of dayparts replaces the one in force: the answer names what no longer holds.
func TestTheAnswerNamesWhatAListOfDaypartsTookAway(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		method, path, body string
		want               []string
	}{
		{"PUT", "config", `{"MASHUP_CHANCE":0.1}`, nil},
		{"PUT", "dayparts", `[{"name":"evening","start":"16:00","end":"23:00","weights":{"mashups":2}}]`,
			[]string{"overnight 02:00-05:00 english", "morning 05:00-11:00 <nil>", "midday 11:00-16:00 <nil>", "late 23:00-02:00 <nil>"}},
		{"POST", "dayparts/clear", ``, nil},
		{"PUT", "config", `{"DAYPARTS":[{"name":"gate","start":"01:00","end":"05:00","hard":"english"},{"start":"05:00","end":"01:00"}]}`, nil},
		{"PUT", "dayparts", `{"dayparts":[{"name":"gate","start":"01:00","end":"04:00","hard":"english"},{"start":"04:00","end":"01:00"}]}`,
			[]string{"gate 04:00-05:00 english"}},
	} {
		code, out := r.send(t, c.method, "/api/station/"+c.path, c.body)
		list, there := out["lost"].([]any)
		var got []string
		for _, l := range list {
			got = append(got, fmt.Sprintf("%v %v-%v %v", at(l, "name"), at(l, "start"), at(l, "end"), at(l, "hard")))
		}
		if code != 200 || !there || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %d, lost %q, want %q", c.path, c.body, code, got, c.want)
		}
	}
}
