package edge

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/web/api"
)

// Every event of both tables is documented with the type that is really sent,
// every reference of the document leads somewhere, and the manual of events
// names them all.
func TestEveryEventIsDocumented(t *testing.T) {
	shown := api.EventTypes()
	doc, err := AsyncAPI("test", shown)
	if err != nil {
		t.Fatal(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(doc, &whole); err != nil {
		t.Fatal(err)
	}
	manual, err := os.ReadFile("../../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string) {
		if !strings.Contains(string(manual), "`"+name+"`") {
			t.Errorf("docs/events.md does not name %s", name)
		}
	}
	types, asks := payloads(), bodies()
	maps.Copy(types, shown)
	for _, k := range events.Kinds() {
		if types[k.Name] == nil {
			t.Errorf("%s has no type", k.Name)
		}
		named(k.Name)
	}
	for _, a := range Asks() {
		if _, ok := asks[a.Event]; !ok {
			t.Errorf("%s has no type", a.Event)
		}
		named(a.Event)
	}
	if len(types) != len(events.Kinds()) || len(asks) != len(Asks()) {
		t.Error("a type is documented whose event is in no table")
	}
	follow(t, whole, whole)
}

// follow looks every reference up.
func follow(t *testing.T, doc, at any) {
	t.Helper()
	switch v := at.(type) {
	case map[string]any:
		if to, ok := v["$ref"].(string); ok {
			here := doc
			for part := range strings.SplitSeq(strings.TrimPrefix(to, "#/"), "/") {
				m, _ := here.(map[string]any)
				here = m[part]
			}
			if here == nil || reflect.ValueOf(here).IsZero() {
				t.Errorf("%s leads nowhere", to)
			}
		}
		for _, inner := range v {
			follow(t, doc, inner)
		}
	case []any:
		for _, inner := range v {
			follow(t, doc, inner)
		}
	}
}
