// Package contract holds answers against the OpenAPI document that a station
// serves: the status, its headers, the content type and the JSON are those that
// the document names for the operation, or the answer is wrong.
//
// It also draws requests from the document, valid ones and others: see Requests.
package contract

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document is an OpenAPI 3.1 document. It may be used by many at once.
type Document struct {
	root map[string]any
	ops  []*Operation
	mux  *http.ServeMux

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by place; most are never asked for
}

// Operation is one method of one path.
type Operation struct {
	Method, Path string
	doc          *Document
	spec         map[string]any
	answers      map[string]map[string]string // status, content type: place of the schema, empty where any bytes will do
}

// ServeHTTP makes an operation something that a ServeMux can find.
func (*Operation) ServeHTTP(http.ResponseWriter, *http.Request) {}

// Row is an operation as people write it: "GET /api/status".
func (o *Operation) Row() string { return o.Method + " " + o.Path }

const resource = "athir:///openapi.json"

// Read takes a document.
func Read(text []byte) (*Document, error) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	d := &Document{mux: http.NewServeMux(), compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	if err := json.Unmarshal(text, &d.root); err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := d.compiler.AddResource(resource, parsed); err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	for path, item := range object(d.root["paths"]) {
		for method, spec := range object(item) {
			op := &Operation{Method: strings.ToUpper(method), Path: path, doc: d, spec: object(spec)}
			op.locate(resource + "#/paths/" + escape(path) + "/" + method + "/responses/")
			d.ops = append(d.ops, op)
			d.mux.Handle(op.Row(), op)
		}
	}
	slices.SortFunc(d.ops, func(a, b *Operation) int { return strings.Compare(a.Path+a.Method, b.Path+b.Method) })
	if len(d.ops) == 0 {
		return nil, errors.New("read document: it has no operations")
	}
	return d, nil
}

// locate notes where the schemas of the answers are.
func (o *Operation) locate(at string) {
	o.answers = map[string]map[string]string{}
	for status, answer := range object(o.spec["responses"]) {
		o.answers[status] = map[string]string{}
		for kind, media := range object(object(answer)["content"]) {
			o.answers[status][kind] = ""
			if object(media)["schema"] != nil {
				o.answers[status][kind] = at + status + "/content/" + escape(kind) + "/schema"
			}
		}
	}
}

// schema is the one at a place of the document.
func (d *Document) schema(at string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if done := d.compiled[at]; done != nil {
		return done, nil
	}
	schema, err := d.compiler.Compile(at)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	d.compiled[at] = schema
	return schema, nil
}

// escape makes a name a part of a JSON pointer in an address.
func escape(name string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}

// Operations lists the document's operations by path.
func (d *Document) Operations() []*Operation { return slices.Clone(d.ops) }

// Find is the operation that a request asks for; nil when there is none.
func (d *Document) Find(r *http.Request) *Operation {
	h, _ := d.mux.Handler(r)
	op, _ := h.(*Operation)
	return op
}

// Transport checks every answer that passes, and tells of those that are wrong.
// Answers that go on for ever, which are audio, are not read.
func (d *Document) Transport(next http.RoundTripper, wrong func(error)) http.RoundTripper {
	return transport{d, next, wrong}
}

type transport struct {
	doc   *Document
	next  http.RoundTripper
	wrong func(error)
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if !strings.HasSuffix(kind, "json") {
		if err := t.doc.Check(r, res.StatusCode, res.Header, nil); err != nil {
			t.wrong(err)
		}
		return res, nil
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return res, nil //nolint:nilerr // the reader of the answer gets as far, and learns the same
	}
	if res.Header.Get("Content-Encoding") == "gzip" && len(body) > 0 { // for one that asked for it itself
		if body, err = inflated(body); err != nil {
			t.wrong(fmt.Errorf("%s %s: read the compressed answer: %w", r.Method, r.URL, err))
			return res, nil
		}
	}
	if err := t.doc.Check(r, res.StatusCode, res.Header, body); err != nil {
		t.wrong(err)
	}
	return res, nil
}

func inflated(body []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Check says what is wrong with an answer; nil when all is as documented. Of a
// path that the document does not have, errors must still be problem documents
// below /api/.
func (d *Document) Check(r *http.Request, status int, head http.Header, body []byte) error {
	if err := d.check(r, status, head, body); err != nil {
		return fmt.Errorf("%s %s answers %d: %w\n%.500s", r.Method, r.URL, status, err, body)
	}
	return nil
}

func (d *Document) check(r *http.Request, status int, head http.Header, body []byte) error {
	kind, _, _ := mime.ParseMediaType(head.Get("Content-Type"))
	if r.Method == http.MethodOptions { // nobody reads what a preflight says
		return nil
	}
	op := d.Find(r)
	if op == nil {
		if status >= http.StatusBadRequest && strings.HasPrefix(r.URL.Path, "/api/") && kind != "application/problem+json" {
			return fmt.Errorf("an error below /api/ is no problem document but %q", kind)
		}
		return nil
	}
	kinds, known := op.answers[strconv.Itoa(status)]
	if !known {
		return errors.New("the document does not have this status")
	}
	if err := headers(status, head); err != nil {
		return err
	}
	if len(kinds) == 0 || r.Method == http.MethodHead {
		if len(body) > 0 {
			return fmt.Errorf("a body of %q that the document does not have", kind)
		}
		return nil
	}
	place, known := kinds[kind]
	if _, any := kinds["*/*"]; !known && !any {
		return fmt.Errorf("content type %q that the document does not have", kind)
	}
	if place == "" || !strings.HasSuffix(kind, "json") {
		return nil
	}
	return d.checkBody(place, kind, status, body)
}

// checkBody holds JSON against the schema at a place.
func (d *Document) checkBody(place, kind string, status int, body []byte) error {
	schema, err := d.schema(place)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		return err
	}
	if said, ok := object(value)["status"].(json.Number); kind == "application/problem+json" && (!ok || said.String() != strconv.Itoa(status)) {
		return errors.New("the problem document has another status")
	}
	return nil
}

// headers are those that a status comes with.
func headers(status int, head http.Header) error {
	name := map[int]string{
		http.StatusUnauthorized: "WWW-Authenticate", http.StatusMethodNotAllowed: "Allow",
		http.StatusTooManyRequests: "Retry-After", http.StatusServiceUnavailable: "Retry-After",
	}[status]
	if name != "" && head.Get(name) == "" {
		return fmt.Errorf("no header %s", name)
	}
	return nil
}

// object is v as a JSON object; an empty one if it is none.
func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}
