package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// present returns one layer of settings, path to value, without those that set nothing:
// a decoder would read them as nought, and nought is "no limit" or "off". Numbers that
// are none are refused, as no comparison holds for them.
func present(layer, defaults map[string]any) (settings map[string]any, wrong []error) {
	settings = map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(layer)) {
		value := layer[key]
		switch {
		case absent(key, value, defaults[key]):
		case value == "" && isList(defaults[key]): // written as a text: none
			settings[key] = []any{}
		case number(defaults[key]) && !finite(value):
			wrong = append(wrong, fmt.Errorf("%s: %v is not a number to reckon with: write one with digits", key, value))
		default:
			settings[key] = value
		}
	}
	return settings, wrong
}

// absent reports whether a value sets nothing: nothing at all, or an empty text or list
// for a setting that must hold something.
func absent(key string, value, usual any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == "" && !mayBeEmpty(key, usual)
	case []string:
		return len(v) == 0 && !mayBeEmpty(key, usual)
	}
	return false
}

// mayBeEmpty reports whether a setting means something when it is empty: texts and lists
// that are empty by default, and two whose emptiness switches something off. Without the
// others there is no station.
func mayBeEmpty(key string, usual any) bool {
	switch key {
	case "bulletin.headlines", "chat.welcome":
		return true
	case "sync_token", "source_password", "chat.rooms", "requests.categories", "hls.renditions":
		return false
	}
	return isList(usual) || usual == ""
}

func isList(usual any) bool {
	_, list := usual.([]any)
	return list
}

func number(value any) bool {
	switch value.(type) {
	case int, float64:
		return true
	}
	return false
}

// finite reports whether a value is not one of the numbers that a file or the
// environment can name and nobody can count to. What is no number at all is named by
// the decoder.
func finite(value any) bool {
	f, ok := value.(float64)
	if text, isText := value.(string); isText {
		parsed, err := strconv.ParseFloat(text, 64)
		f, ok = parsed, err == nil
	}
	return !ok || !math.IsNaN(f) && !math.IsInf(f, 0)
}
