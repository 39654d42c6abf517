package api

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page and its style
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/web/problem"
)

//go:embed docspage/page.html
var docsPage string

//go:embed docspage/page.css
var docsStyle string

// docs serves the document for people: one page without scripts, made at the first
// request.
func docs(doc *huma.OpenAPI) http.HandlerFunc {
	page := sync.OnceValues(func() ([]byte, error) { return renderDocs(doc) })
	sum := sha256.Sum256([]byte(docsStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return func(w http.ResponseWriter, _ *http.Request) {
		body, err := page()
		if err != nil {
			problem.Write(w, err)
			return
		}
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(body) // the reader may have left
	}
}

func renderDocs(doc *huma.OpenAPI) ([]byte, error) {
	page, err := template.New("docs").Parse(docsPage)
	if err != nil {
		return nil, fmt.Errorf("render API page: %w", err)
	}
	var out bytes.Buffer
	if err := page.Execute(&out, docsOf(doc)); err != nil {
		return nil, fmt.Errorf("render API page: %w", err)
	}
	return out.Bytes(), nil
}

// What the page shows.
type (
	docsData struct {
		Title, Version string
		Style          template.CSS
		Sections       []docsSection
		Types          []docsNamed
	}
	docsSection struct {
		Name, Anchor string
		Operations   []docsOperation
	}
	docsOperation struct {
		ID, Method, Path, Summary, Description, Example string
		Locked                                          bool
		Parameters                                      []docsMember
		Body                                            *docsBody
		Answers                                         []docsAnswer
	}
	docsBody struct {
		ContentType string
		Schema      docsSchema
	}
	docsAnswer struct {
		Status, Class, Says, ContentType string
		Schema                           *docsSchema
	}
	docsNamed struct {
		Name   string
		Schema docsSchema
	}
	docsSchema struct {
		Type    docsType
		Members []docsMember
	}
	docsMember struct {
		Name, In, Doc string
		Required      bool
		Type          docsType
	}
	docsType struct{ Text, Ref, Bounds string }
)

func docsOf(doc *huma.OpenAPI) docsData {
	out := docsData{Title: doc.Info.Title, Version: doc.Info.Version, Style: template.CSS(docsStyle)} //nolint:gosec // our own file
	for _, tag := range doc.Tags {
		s := docsSection{Name: tag.Name, Anchor: strings.ReplaceAll(strings.ToLower(tag.Name), " ", "-")}
		for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
			item := doc.Paths[path]
			for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
				if op != nil && slices.Contains(op.Tags, tag.Name) {
					s.Operations = append(s.Operations, docsOfOperation(doc, op))
				}
			}
		}
		out.Sections = append(out.Sections, s)
	}
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		out.Types = append(out.Types, docsNamed{name, docsOfSchema(doc, schemas[name])})
	}
	return out
}

func docsOfOperation(doc *huma.OpenAPI, op *huma.Operation) docsOperation {
	out := docsOperation{
		ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
		Locked: len(op.Security) > 0, Example: curl(doc, op),
	}
	for _, p := range op.Parameters {
		out.Parameters = append(out.Parameters, docsMember{
			Name: p.Name, In: p.In, Doc: cmp.Or(p.Description, p.Schema.Description), Required: p.Required, Type: docsOfType(p.Schema),
		})
	}
	if op.RequestBody != nil {
		for kind, media := range op.RequestBody.Content {
			out.Body = &docsBody{kind, docsOfSchema(doc, media.Schema)}
		}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		res := op.Responses[status]
		a := docsAnswer{Status: status, Class: status[:1], Says: res.Description}
		for _, kind := range slices.Sorted(maps.Keys(res.Content)) {
			a.ContentType = strings.TrimPrefix(a.ContentType+", "+kind, ", ")
			if schema := res.Content[kind].Schema; schema != nil && kind == "application/json" {
				shown := docsOfSchema(doc, schema)
				a.Schema = &shown
			}
		}
		out.Answers = append(out.Answers, a)
	}
	return out
}

// docsOfSchema lists the members of an object, following a reference.
func docsOfSchema(doc *huma.OpenAPI, s *huma.Schema) docsSchema {
	if s == nil {
		return docsSchema{Type: docsType{Text: "anything"}}
	}
	out := docsSchema{Type: docsOfType(s)}
	if s.Ref != "" {
		s = doc.Components.Schemas.SchemaFromRef(s.Ref)
	}
	for _, one := range s.OneOf {
		if len(one.Properties) > 0 {
			s = one
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		member := s.Properties[name]
		out.Members = append(out.Members, docsMember{
			Name: name, Doc: member.Description, Required: slices.Contains(s.Required, name), Type: docsOfType(member),
		})
	}
	return out
}

func docsOfType(s *huma.Schema) docsType {
	switch {
	case s == nil:
		return docsType{Text: "anything"}
	case s.Ref != "":
		name := s.Ref[strings.LastIndex(s.Ref, "/")+1:]
		return docsType{Text: name, Ref: name}
	case len(s.OneOf) > 0:
		return docsType{Text: "one of several"}
	case s.Type == huma.TypeArray:
		of := docsOfType(s.Items)
		of.Text = "list of " + of.Text
		return of
	case s.Type == huma.TypeObject && len(s.Properties) == 0:
		if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
			t := docsOfType(of)
			t.Text = "object of " + t.Text
			return t
		}
	}
	return docsType{Text: cmp.Or(s.Type, "anything"), Bounds: bounds(s)}
}

// bounds describes the allowed values in few words.
func bounds(s *huma.Schema) string {
	var out []string
	if len(s.Enum) > 0 {
		var all []string
		for _, v := range s.Enum {
			all = append(all, fmt.Sprint(v))
		}
		out = append(out, strings.Join(all, " | "))
	}
	for _, b := range []struct {
		says  string
		value *float64
	}{{"from ", s.Minimum}, {"to ", s.Maximum}} {
		if b.value != nil {
			out = append(out, b.says+strconv.FormatFloat(*b.value, 'g', -1, 64))
		}
	}
	if s.MaxLength != nil {
		out = append(out, fmt.Sprintf("at most %d letters", *s.MaxLength))
	}
	if s.MaxItems != nil {
		out = append(out, fmt.Sprintf("at most %d", *s.MaxItems))
	}
	if s.Default != nil {
		out = append(out, fmt.Sprintf("%v unless given", s.Default))
	}
	return strings.Join(out, ", ")
}

// curl returns the command that calls a route from a terminal.
func curl(doc *huma.OpenAPI, op *huma.Operation) string {
	var out strings.Builder
	out.WriteString("curl ")
	for _, need := range op.Security {
		if _, token := need[tokenScheme]; token {
			out.WriteString(`-H "x-sync-token: $SYNC_TOKEN" `)
		} else {
			out.WriteString(`-H "x-station-key: $STATION_KEY" `)
		}
	}
	body := op.RequestBody != nil
	if op.Method != http.MethodGet && (op.Method != http.MethodPost || !body) {
		out.WriteString("-X " + op.Method + " ")
	}
	out.WriteString("http://127.0.0.1:5000" + op.Path)
	if body {
		out.WriteString(curlBody(doc, op.RequestBody))
	}
	return out.String()
}

// curlBody returns the options that send a body: the members that must be there, or a file.
func curlBody(doc *huma.OpenAPI, body *huma.RequestBody) string {
	sample := map[string]any{}
	for kind, media := range body.Content {
		if kind != "application/json" {
			return " --data-binary @file"
		}
		for _, m := range docsOfSchema(doc, media.Schema).Members {
			if m.Required {
				sample[m.Name] = "…"
			}
		}
	}
	text, err := json.Marshal(sample)
	if err != nil {
		return ""
	}
	return " --json '" + string(text) + "'"
}
