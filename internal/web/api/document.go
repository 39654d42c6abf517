package api

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/web/problem"
)

// note adds to a row's documentation what its types do not show.
type note func(*huma.Operation)

// may documents the statuses of a row's handler, besides those of its guard, its
// limit and its body.
func may(statuses ...int) note {
	return func(op *huma.Operation) { op.Errors = append(op.Errors, statuses...) }
}

// gives documents the answer of a raw row.
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

// asks documents a query or path parameter of a raw row.
func asks(in, name, doc string, schema huma.Schema) note {
	return func(op *huma.Operation) {
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: name, In: in, Description: doc, Schema: &schema, Required: in == "path",
		})
	}
}

// noted completes an operation with the answers that follow from its notes and the
// type of its input.
func noted(api huma.API, op huma.Operation, input reflect.Type, notes []note) huma.Operation {
	for _, n := range notes {
		n(&op)
	}
	if op.Method != http.MethodGet && !slices.Contains(op.Errors, http.StatusServiceUnavailable) {
		op.Errors = append(op.Errors, http.StatusServiceUnavailable) // nothing is written on a full disk
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
		// The handler runs after the body is read. A read deadline would end its
		// work: net/http would take the client for gone.
		op.BodyReadTimeout = -1
	}
	if parsed {
		op.Errors = append(op.Errors, http.StatusUnsupportedMediaType)
	}
	return op
}

// creates documents that success is 201.
func creates(op *huma.Operation) { op.DefaultStatus = http.StatusCreated }

// refusals returns the statuses that follow from a row's guard, limit and path.
func refusals(r route, t term) (statuses []int) {
	switch r.guard {
	case looks, inside, answersRequests, airs, moderates, programmes, owns, moderator:
		statuses = append(statuses, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests)
	case engineOnly:
		statuses = append(statuses, http.StatusUnauthorized)
	case person:
		statuses = append(statuses, http.StatusUnauthorized, http.StatusForbidden)
	case open, ownPages:
		if r.method != get { // refused to other sites that the settings do not name
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

// sections maps the beginning of a path to its tag, named as the mission's tables.
// The first that fits applies.
var sections = []struct{ prefix, name string }{
	{"/stream", "Streaming"},
	{"/api/channels", "Channels"},
	{"/api/library", "Content and library"},
	{"/api/content", "Content and library"},
	{"/api/imaging", "Imaging"},
	{"/api/bulletin", "Bulletin"},
	{"/api/station/bulletin", "Bulletin"},
	{"/api/jobs", "Long work"},
	{"/api/reactions", "Reactions"},
	{"/api/vibe", "Reactions"},
	{"/api/requests", "Requests"},
	{"/api/station/requests", "Requests"},
	{"/api/comments", "Chat"},
	{"/api/chat", "Chat"},
	{"/chat/", "Chat"},
	{"/api/subscribe", "Push"},
	{"/api/push", "Push"},
	{"/api/session", "People"},
	{"/api/account", "People"},
	{"/api/people", "People"},
	{"/api/sync", "Media sync"},
	{"/api/station/live", "Live"},
	{"/api/live", "Live"},
	{"/api/podcasts", "On demand"},
	{"/api/station/podcasts", "On demand"},
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

// complete adds what is common to all rows to a document that has all of them.
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
	schemas := doc.Components.Schemas
	problems := schemas.Schema(reflect.TypeFor[huma.ErrorModel](), true, "")
	reason := *schemas.Schema(reflect.TypeFor[problem.Reason](), true, "")
	schemas.SchemaFromRef(problems.Ref).Properties["reason"] = &reason // see reasonedModel
	used := map[string]bool{}
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			for _, tag := range op.Tags {
				used[tag] = true
			}
			for _, status := range op.Errors { // raw rows only: typed ones have them already
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
