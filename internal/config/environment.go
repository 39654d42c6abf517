package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"

	"github.com/athir-radio/athir"
)

// variables are the settings by their names in the environment.
func variables(known []string) map[string]string {
	names := map[string]string{}
	for _, key := range known {
		names["ATHIR_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))] = key
	}
	for name, key := range shortNames() {
		names[name] = key
	}
	return names
}

// environment picks the settings out of the environment.
func environment(env, known, lists []string) (map[string]any, error) {
	names := variables(known)
	out := map[string]any{}
	var wrong []error
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch key, ok := names[name]; {
		case ok && slices.Contains(lists, key):
			list, err := listOf(value)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("environment %s: not a list: write items between commas, or [\"an item, with a comma\", \"another\"]", name))
			}
			out[key] = list
		case ok:
			out[key] = value
		case strings.HasPrefix(name, "ATHIR_PORTS_"):
			wrong = append(wrong, fmt.Errorf("environment %s: no such port%s: see ports in athir.example.yaml", name, didYouMean(name, slices.Collect(maps.Keys(names)))))
		}
	}
	return out, errors.Join(wrong...)
}

// listOf reads a list from the environment: items between commas, or, where an item has
// a comma of its own, a YAML list in brackets. Nothing is an empty list.
func listOf(value string) (list []string, err error) {
	value = strings.TrimSpace(value)
	if strings.HasPrefix(value, "[") {
		parsed, err := yaml.Parser().Unmarshal([]byte("list: " + value))
		if err != nil {
			return nil, err
		}
		items, ok := parsed["list"].([]any)
		if !ok {
			return nil, errors.New("not a list")
		}
		for _, item := range items {
			list = append(list, fmt.Sprint(item))
		}
		return list, nil
	}
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list, nil
}

// settingsOf picks the variables that are settings, or may be.
func settingsOf(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !strings.HasPrefix(name, "ATHIR_") && shortNames()[name] == ""
	})
}

// shortNames are the mission's names in the environment.
func shortNames() map[string]string {
	out := map[string]string{"CONTENT_REFRESH_HOURS": "content.refresh_hours", "BULLETIN_HOURS": "bulletin.hours"}
	for _, key := range keySettings() {
		out[strings.ToUpper(key)] = key
	}
	return out
}

// dataVariable is the flag --data in the environment, no setting.
const dataVariable = "ATHIR_DATA"

// strangers warns of variables that look like settings and are none. They are not
// refused: other programs may use the prefix.
func strangers(env []string) (out []string) {
	k := koanf.New(".")
	if k.Load(rawbytes.Provider(athir.ExampleSettings), yaml.Parser()) != nil {
		return nil // Parse has refused it
	}
	names := variables(k.Keys())
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if _, known := names[name]; known || name == dataVariable || !strings.HasPrefix(name, "ATHIR_") {
			continue
		}
		out = append(out, fmt.Sprintf("environment %s: no such setting%s: it does nothing", name, didYouMean(name, slices.Collect(maps.Keys(names)))))
	}
	slices.Sort(out)
	return out
}
