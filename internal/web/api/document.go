package api

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/web/problem"
)

// note adds to a row's documentation what its types do not say.
type note func(*huma.Operation)

// may names the statuses that a row's own handler answers with, beside those
// that follow from its guard, its limit and its body.
func may(statuses ...int) note {
	return func(op *huma.Operation) { op.Errors = append(op.Errors, statuses...) }
}

// gives is the answer of a raw row.
func gives(status int, contentTypes ...string) note {
	return func(op *huma.Operation) {
		res := &huma.Response{Description: http.StatusText(status), Content: map[string]*huma.MediaType{}}
		for _, t := range contentTypes {
			res.Content[t] = &huma.MediaType{}
		}
		if op.Responses == nil {
			op.Responses = map[string]*huma.Response{}
		}
		op.Responses[strconv.Itoa(status)] = res
	}
}

// asks is a query or path parameter of a raw row.
func asks(in, name, doc string, schema huma.Schema) note {
	return func(op *huma.Operation) {
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: name, In: in, Description: doc, Schema: &schema, Required: in == "path",
		})
	}
}

// noted is an operation with what its row, its notes and the type of its input
// say of its answers.
func noted(api huma.API, op huma.Operation, input reflect.Type, notes []note) huma.Operation {
	for _, n := range notes {
		n(&op)
	}
	if input == nil {
		if op.Responses == nil {
			gives(http.StatusOK)(&op)
		}
		return op
	}
	_, parsed := input.FieldByName("Body")
	_, asSent := input.FieldByName("RawBody")
	if parsed || asSent {
		op.Errors = append(op.Errors, http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge)
		op.Middlewares = append(op.Middlewares, received(api))
		// The body is here by then. A deadline for it would end what is being
		// done: net/http would take the client for gone.
		op.BodyReadTimeout = -1
	}
	if parsed {
		op.Errors = append(op.Errors, http.StatusUnsupportedMediaType)
	}
	return op
}

// creates is an answer of 201.
func creates(op *huma.Operation) { op.DefaultStatus = http.StatusCreated }

// refusals are the statuses of a row's guard, limit and path.
func refusals(r route, t term) (statuses []int) {
	switch r.guard {
	case stationKey:
		statuses = append(statuses, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests)
	case engineOnly:
		statuses = append(statuses, http.StatusUnauthorized)
	case open:
		if r.method != get { // a page that nobody named
			statuses = append(statuses, http.StatusForbidden)
		}
	}
	if t.name != "unmetered" {
		statuses = append(statuses, http.StatusTooManyRequests)
	}
	if strings.Contains(r.path, "{") {
		statuses = append(statuses, http.StatusNotFound)
	}
	return append(statuses, http.StatusInternalServerError)
}

// sections are the tags, as the mission's tables are headed, by the beginning
// of the path; the first that fits is a row's.
var sections = []struct{ prefix, name string }{
	{"/stream", "Streaming"},
	{"/api/channels", "Channels"},
	{"/api/library", "Content and library"},
	{"/api/content", "Content and library"},
	{"/api/imaging", "Imaging"},
	{"/api/bulletin", "Bulletin"},
	{"/api/jobs", "Long work"},
	{"/api/reactions", "Reactions"},
	{"/api/vibe", "Reactions"},
	{"/api/comments", "Chat"},
	{"/api/chat", "Chat"},
	{"/chat/", "Chat"},
	{"/api/subscribe", "Push"},
	{"/api/push", "Push"},
	{"/api/sync", "Media sync"},
	{"/api/station/", "Station control"},
	{"/healthz", "Operation"},
	{"/metrics", "Operation"},
	{"", "Telemetry and other routes"},
}

func section(path string) string {
	for _, s := range sections {
		if strings.HasPrefix(path, s.prefix) {
			return s.name
		}
	}
	return ""
}

// complete adds to a document what holds of every row, once all are in it.
func complete(doc *huma.OpenAPI) {
	header := func(of *huma.Response, name, what string, schema huma.Schema) {
		if of == nil {
			return
		}
		if of.Headers == nil {
			of.Headers = map[string]*huma.Param{}
		}
		of.Headers[name] = &huma.Param{Description: what, Schema: &schema}
	}
	problems := doc.Components.Schemas.Schema(reflect.TypeFor[huma.ErrorModel](), true, "")
	used := map[string]bool{}
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Delete} {
			if op == nil {
				continue
			}
			for _, tag := range op.Tags {
				used[tag] = true
			}
			for _, status := range op.Errors { // of raw rows: typed ones have them
				key := strconv.Itoa(status)
				if op.Responses[key] == nil {
					op.Responses[key] = &huma.Response{Description: http.StatusText(status), Content: map[string]*huma.MediaType{
						problem.MediaType: {Schema: problems},
					}}
				}
			}
			header(op.Responses["401"], "WWW-Authenticate", "How to show the key", huma.Schema{Type: huma.TypeString})
			for _, status := range []string{"429", "503"} {
				header(op.Responses[status], "Retry-After", "Seconds", huma.Schema{Type: huma.TypeInteger})
			}
		}
	}
	for _, s := range sections {
		if used[s.name] {
			doc.Tags = append(doc.Tags, &huma.Tag{Name: s.name})
			used[s.name] = false
		}
	}
}
