package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Request is one request to an operation.
type Request struct {
	Operation *Operation
	What      string // is sent, in words
	Method    string
	Target    string // path and query, escaped
	Header    http.Header
	Body      []byte
	// Want are the statuses that it may get; nil for any that the document has.
	Want []int
}

// HTTP is the request to a server at base.
func (q Request) HTTP(ctx context.Context, base string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, q.Method, base+q.Target, bytes.NewReader(q.Body))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, q.Header)
	return req, nil
}

// Hints are values that parameters and members of a name may have and that the
// document cannot know, such as ids.
type Hints map[string][]string

// Valid draws a request that the document allows: all that is required is there,
// and of the rest some.
func (o *Operation) Valid(r *rand.Rand, hints Hints) Request {
	q := Request{Operation: o, What: "a valid request", Method: o.Method, Target: o.Path, Header: http.Header{}}
	query := url.Values{}
	for _, p := range o.parameters() {
		if p.in != "path" && !p.required && r.IntN(2) == 0 {
			continue
		}
		q.set(p, o.text(r, p, hints), query)
	}
	q.Target = join(q.Target, query)
	if schema := o.bodySchema(); schema != nil {
		q.Body, _ = json.Marshal(hinted(r, o.doc.draw(r, schema, 0), hints))
		q.Header.Set("Content-Type", "application/json")
	} else if o.bodyRequired() { // a file: what is wrong beside it is to be found
		q.Body = []byte(HostileText(r) + "x")
	}
	return q
}

// hinted puts values that are known into a body.
func hinted(r *rand.Rand, body any, hints Hints) any {
	members, _ := body.(map[string]any)
	for name, value := range members {
		if _, text := value.(string); text && len(hints[name]) > 0 && r.IntN(2) == 0 {
			members[name] = pick(r, hints[name])
		}
	}
	return body
}

// Broken lists requests that are each wrong in one way: what must be there is
// missing, or something is not what the document says. r draws the rest.
func (o *Operation) Broken(r *rand.Rand, hints Hints) (out []Request) {
	add := func(what string, want int, change func(*Request)) {
		q := o.Valid(r, hints)
		q.What, q.Want = what, []int{want}
		change(&q)
		out = append(out, q)
	}
	for _, p := range o.parameters() {
		for what, text := range o.doc.wrongTexts(p.schema) {
			if p.in == "query" {
				add(p.name+" "+what, http.StatusUnprocessableEntity, func(q *Request) {
					path, raw, _ := strings.Cut(q.Target, "?")
					query, _ := url.ParseQuery(raw)
					query.Set(p.name, text)
					q.Target = join(path, query)
				})
			}
		}
	}
	schema := o.bodySchema()
	if schema == nil {
		return out
	}
	if o.bodyRequired() {
		add("no body", http.StatusBadRequest, func(q *Request) { q.Body = nil })
	}
	add("a body that is no JSON", http.StatusBadRequest, func(q *Request) { q.Body = []byte(`{"`) })
	if !o.unread() {
		add("a form", http.StatusUnsupportedMediaType, func(q *Request) {
			q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			q.Body = []byte("a=b")
		})
	}
	for what, value := range o.doc.wrong(r, schema, 0) {
		add("body"+what, http.StatusUnprocessableEntity, func(q *Request) { q.Body, _ = json.Marshal(value) })
	}
	return out
}

// wrong are values that neither a schema nor the others takes, by what is wrong
// with them.
func (d *Document) wrong(r *rand.Rand, schema map[string]any, depth int, or ...any) map[string]any {
	schema = d.resolve(schema)
	out := map[string]any{}
	types := kinds(schema)
	if all, ok := schema["oneOf"].([]any); ok {
		return d.wrong(r, object(all[0]), depth, all[1:]...)
	}
	if len(types) == 0 {
		return out // takes anything
	}
	for _, other := range or {
		types = append(types, kinds(d.resolve(object(other)))...)
	}
	for kind, value := range map[string]any{"string": "seven", "integer": 7, "boolean": true, "array": []any{}, "object": map[string]any{"no": 1}} {
		if !slices.Contains(types, kind) && (kind != "integer" || !slices.Contains(types, "number")) && schema["enum"] == nil {
			out[" is "+kind] = value
		}
	}
	if schema["enum"] != nil {
		out[" is none of its values"] = "\u202enone"
	}
	if most, ok := schema["maxLength"].(float64); ok && slices.Contains(types, "string") {
		out[" is too long"] = strings.Repeat("س", int(most)+1)
	}
	if low, ok := schema["minimum"].(float64); ok {
		out[" is too small"] = low - 1
	}
	if high, ok := schema["maximum"].(float64); ok {
		out[" is too large"] = high + 1
	}
	if !slices.Contains(types, "object") || depth > 2 {
		return out
	}
	for name, member := range object(schema["properties"]) {
		if slices.Contains(required(schema), name) {
			without := d.drawObject(r, schema, 0)
			delete(without, name)
			out["."+name+" is missing"] = without
		}
		for what, value := range d.wrong(r, object(member), depth+1) {
			with := d.drawObject(r, schema, 0)
			with[name] = value
			out["."+name+what] = with
		}
	}
	return out
}

// wrongTexts are texts that a parameter does not take.
func (d *Document) wrongTexts(schema map[string]any) map[string]string {
	schema = d.resolve(schema)
	types := kinds(schema)
	switch {
	case slices.Contains(types, "integer"), slices.Contains(types, "number"):
		out := map[string]string{"is no number": "seven"}
		if high, ok := schema["maximum"].(float64); ok {
			out["is too large"] = jsonNumber(high + 1)
		}
		if low, ok := schema["minimum"].(float64); ok {
			out["is too small"] = jsonNumber(low - 1)
		}
		return out
	case slices.Contains(types, "boolean"):
		return map[string]string{"is no boolean": "seven"}
	}
	return nil
}

type parameter struct {
	name, in string
	required bool
	schema   map[string]any
}

func (o *Operation) parameters() (out []parameter) {
	all, _ := o.spec["parameters"].([]any)
	for _, v := range all {
		p := o.doc.resolve(object(v))
		name, _ := p["name"].(string)
		in, _ := p["in"].(string)
		needed, _ := p["required"].(bool)
		out = append(out, parameter{name, in, needed || in == "path", object(p["schema"])})
	}
	return out
}

// text is a value of a parameter.
func (o *Operation) text(r *rand.Rand, p parameter, hints Hints) string {
	if known := hints[p.name]; len(known) > 0 {
		return pick(r, known)
	}
	switch v := o.doc.draw(r, p.schema, 0).(type) {
	case string:
		if v == "" && p.in == "path" {
			return "x"
		}
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return "x"
}

func (q *Request) set(p parameter, text string, query url.Values) {
	switch p.in {
	case "path":
		q.Target = strings.ReplaceAll(q.Target, "{"+p.name+"}", url.PathEscape(text))
	case "query":
		query.Set(p.name, text)
	case "header":
		q.Header.Set(p.name, plain(text))
	}
}

// plain is what a header can carry.
func plain(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return 'x'
		}
		return c
	}, text)
}

func join(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

func (o *Operation) bodySchema() map[string]any {
	media := object(object(object(o.doc.resolve(object(o.spec["requestBody"])))["content"])["application/json"])
	schema, _ := media["schema"].(map[string]any)
	return schema
}

func (o *Operation) bodyRequired() bool {
	needed, _ := object(o.spec["requestBody"])["required"].(bool)
	return needed
}

// unread tells an operation that takes its body whatever it calls itself.
func (o *Operation) unread() bool { return o.answers["415"] == nil }
