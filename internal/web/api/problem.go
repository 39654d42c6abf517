package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/web/problem"
)

// fieldError is a wrong field of a typed body or query.
func fieldError(location, message string) huma.StatusError {
	return huma.NewError(http.StatusUnprocessableEntity, invalidDetail, &huma.ErrorDetail{Location: location, Message: message})
}

const invalidDetail = "validation failed"

// refusal turns an error into its problem document, with the fields that are wrong.
func refusal(err error) error {
	var done huma.StatusError
	if err == nil || errors.As(err, &done) {
		return err
	}
	doc, fields := problem.Of(err), []error(nil)
	var wrong *policy.InvalidError
	if errors.As(err, &wrong) && doc.Status != http.StatusInternalServerError {
		doc.Detail, fields = invalidDetail, located(wrong, inBody(""))
	}
	out := reasoned(err, huma.NewError(doc.Status, doc.Detail, fields...))
	if after := problem.RetryAfter(err); after != "" {
		return huma.ErrorWithHeaders(out, http.Header{"Retry-After": {after}})
	}
	if doc.Status == http.StatusUnauthorized {
		return huma.ErrorWithHeaders(out, http.Header{"Www-Authenticate": {open.realm()}})
	}
	return out
}

// reasonedModel is a problem document with the reason that some refusals have.
type reasonedModel struct {
	huma.ErrorModel
	Reason *problem.Reason `json:"reason,omitempty"`
}

// reasoned adds the reason of an error to the document that answers it.
func reasoned(err error, doc huma.StatusError) huma.StatusError {
	model, reason := modelOf(doc), problem.ReasonOf(err)
	if model == nil || reason == nil {
		return doc
	}
	return &reasonedModel{*model, reason}
}

// modelOf returns the part of a document that all have; nil for what is none.
func modelOf(v any) *huma.ErrorModel {
	switch doc := v.(type) {
	case *huma.ErrorModel:
		return doc
	case *reasonedModel:
		return &doc.ErrorModel
	}
	return nil
}

// writeRefusal answers in a middleware with the problem for an error.
func writeRefusal(ctx huma.Context, err error) {
	if after := problem.RetryAfter(err); after != "" {
		ctx.SetHeader("Retry-After", after)
	}
	doc := problem.Of(err)
	ctx.SetHeader("Content-Type", problem.MediaType)
	ctx.SetStatus(doc.Status)
	_ = json.NewEncoder(ctx.BodyWriter()).Encode(doc) // the client may have left
}

// place translates a path of the configuration document into a path of the caller's
// request.
type place func(path string) string

// inBody is the place for a body that holds the part of the document that key names,
// below the body's member root; an empty key is the whole document. A change can also
// make fields elsewhere in the document wrong: their paths begin with config.
func inBody(key string, root ...string) place {
	at := strings.Join(append([]string{"body"}, root...), ".")
	return func(path string) string {
		rest, within := strings.CutPrefix(path, key)
		switch {
		case !within, key != "" && rest != "" && rest[0] != '.' && rest[0] != '[':
			return "config." + path
		case key == "" && rest != "":
			return at + "." + rest
		}
		return at + rest
	}
}

// named tells a caller which of its fields are wrong.
func named(err error, at place) error {
	var wrong *policy.InvalidError
	if !errors.As(err, &wrong) {
		return err
	}
	return huma.NewError(http.StatusUnprocessableEntity, invalidDetail, located(wrong, at)...)
}

func located(wrong *policy.InvalidError, at place) []error {
	out := make([]error, len(wrong.Fields))
	for i, f := range wrong.Fields {
		out[i] = &huma.ErrorDetail{Location: at(f.Path), Message: f.Want}
	}
	return out
}

const (
	mostProblems  = 100 // wrong fields named in one answer
	longestEcho   = 200 // bytes of a location or a message
	problemsBound = "many fields are wrong: these are the first"
)

// bounded keeps a problem document small: validation names each wrong member and
// repeats the object around it, so one MiB of unknown names would be answered with a
// MiB for each name.
func bounded(_ huma.Context, _ string, v any) (any, error) {
	doc := modelOf(v)
	if doc == nil {
		return v, nil
	}
	if len(doc.Errors) > mostProblems {
		doc.Errors = doc.Errors[:mostProblems]
		doc.Detail = problemsBound
	}
	for _, e := range doc.Errors {
		if e == nil {
			continue
		}
		e.Value = nil
		if field, ok := missing(e.Message); ok {
			e.Location, e.Message = e.Location+"."+field, "must be given"
		}
		e.Location, e.Message = cut(e.Location), cut(e.Message)
	}
	return v, nil
}

// missing returns the field that a message of huma's reports as missing.
func missing(message string) (string, bool) {
	before, after, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	field, begins := strings.CutPrefix(message, before)
	field, ends := strings.CutSuffix(field, after)
	return field, begins && ends
}

func cut(s string) string {
	if len(s) <= longestEcho {
		return s
	}
	return strings.ToValidUTF8(s[:longestEcho], "") + "…"
}
