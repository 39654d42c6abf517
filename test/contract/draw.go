package contract

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// draw is a value that a schema takes, as far as a schema says so: what a
// pattern wants is taken from its example.
func (d *Document) draw(r *rand.Rand, schema map[string]any, depth int) any {
	schema = d.resolve(schema)
	for _, key := range []string{"oneOf", "anyOf"} {
		if all, ok := schema[key].([]any); ok && len(all) > 0 {
			return d.draw(r, object(all[r.IntN(len(all))]), depth)
		}
	}
	if all, ok := schema["enum"].([]any); ok && len(all) > 0 {
		return all[r.IntN(len(all))]
	}
	if all, ok := schema["examples"].([]any); ok && len(all) > 0 && (schema["pattern"] != nil || r.IntN(2) == 0) {
		return all[r.IntN(len(all))]
	}
	switch pick(r, kinds(schema)) {
	case "string":
		return drawText(r, int(number(schema, "minLength", 0)), int(number(schema, "maxLength", 40)))
	case "integer":
		low := number(schema, "minimum", -10)
		return json.Number(jsonNumber(math.Floor(low + r.Float64()*(number(schema, "maximum", low+1000)-low))))
	case "number":
		low := number(schema, "minimum", -10)
		return json.Number(jsonNumber(low + r.Float64()*(number(schema, "maximum", low+1000)-low)))
	case "boolean":
		return r.IntN(2) == 0
	case "array":
		out := []any{}
		least := int(number(schema, "minItems", 0))
		for range least + r.IntN(1+min(3, int(number(schema, "maxItems", 3))-least)) {
			if depth < maxDepth {
				out = append(out, d.draw(r, object(schema["items"]), depth+1))
			}
		}
		return out
	case "object":
		return d.drawObject(r, schema, depth)
	case "null":
		return nil
	}
	return drawText(r, 0, 10)
}

// maxDepth ends schemas that hold themselves.
const maxDepth = 6

func (d *Document) drawObject(r *rand.Rand, schema map[string]any, depth int) map[string]any {
	out := map[string]any{}
	for name, member := range object(schema["properties"]) {
		if name != "$schema" && (slices.Contains(required(schema), name) || depth < maxDepth && r.IntN(2) == 0) {
			out[name] = d.draw(r, object(member), depth+1)
		}
	}
	if more, ok := schema["additionalProperties"].(map[string]any); ok && depth < maxDepth {
		for range r.IntN(3) {
			out[drawText(r, 1, 12)] = d.draw(r, more, depth+1)
		}
	}
	return out
}

// resolve follows references within the document.
func (d *Document) resolve(schema map[string]any) map[string]any {
	for {
		ref, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		schema = d.root
		for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			schema = object(schema[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)])
		}
	}
}

func required(schema map[string]any) (out []string) {
	all, _ := schema["required"].([]any)
	for _, v := range all {
		name, _ := v.(string)
		out = append(out, name)
	}
	return out
}

// kinds are the types that a schema takes.
func kinds(schema map[string]any) (out []string) {
	switch t := schema["type"].(type) {
	case string:
		return []string{t}
	case []any:
		for _, v := range t {
			kind, _ := v.(string)
			out = append(out, kind)
		}
	}
	return out
}

func pick[T any](r *rand.Rand, from []T) (one T) {
	if len(from) > 0 {
		one = from[r.IntN(len(from))]
	}
	return one
}

func number(schema map[string]any, key string, otherwise float64) float64 {
	if n, ok := schema[key].(float64); ok {
		return n
	}
	return otherwise
}

func jsonNumber(f float64) string {
	text, err := json.Marshal(f)
	if err != nil {
		return "0"
	}
	return string(text)
}

// drawText is plain text of two scripts.
func drawText(r *rand.Rand, least, most int) string {
	letters := []rune("abcdefghijklmnopqrstuvwxyz0123456789_-ابتثجحخدذرزسشصضطظعغفقكلمنهوي")
	n := least + r.IntN(1+max(0, min(most-least, 20)))
	out := make([]rune, n)
	for i := range out {
		out[i] = letters[r.IntN(len(letters))]
	}
	return string(out)
}
