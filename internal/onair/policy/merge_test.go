package policy

import (
	"encoding/json"
	"testing"
)

// The examples of RFC 7396, Appendix A, whose target and patch are objects.
func TestMergeFollowsRFC7396(t *testing.T) {
	for _, c := range []struct{ target, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"a":"foo"}`, `{"b":{"c":"d"}}`, `{"a":"foo","b":{"c":"d"}}`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`{"a":[1,2]}`, `{"a":{"a":"b","c":null}}`, `{"a":{"a":"b"}}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		target, patch, want := mustParse(t, c.target), mustParse(t, c.patch), mustParse(t, c.want)
		got := merge(target, patch)
		if !equal(got, want) {
			b, _ := json.Marshal(got)
			t.Errorf("%s + %s = %s, want %s", c.target, c.patch, b, c.want)
		}
		// What a patch did to a document of ours can be taken back; ours hold no null.
		if _, null := target["e"]; !null && !equal(merge(got, inverse(target, patch)), target) {
			t.Errorf("%s + %s cannot be taken back", c.target, c.patch)
		}
		if !equal(target, mustParse(t, c.target)) {
			t.Errorf("%s was changed by the merge", c.target)
		}
	}
}

func mustParse(t *testing.T, s string) object {
	t.Helper()
	o, err := parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return o
}
