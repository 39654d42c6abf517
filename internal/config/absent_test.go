package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"

	"github.com/athir-radio/athir"
)

// keysOnly is the shortest text that makes a station.
const keysOnly = "source_password: abcdefgh\nsync_token: x\nstation_key: y\n"

// knownSettings are all settings by path, with their defaults.
func knownSettings(t *testing.T) map[string]any {
	t.Helper()
	k := koanf.New(".")
	if err := k.Load(rawbytes.Provider(athir.ExampleSettings), yaml.Parser()); err != nil {
		t.Fatal(err)
	}
	return k.All()
}

// written is a settings text of one setting beside the keys.
func written(key, value string) string {
	if slices.Contains(keySettings(), key) {
		without := ""
		for line := range strings.Lines(keysOnly) {
			if !strings.HasPrefix(line, key+":") {
				without += line
			}
		}
		return without + key + ":" + value + "\n"
	}
	if heading, name, below := strings.Cut(key, "."); below {
		return keysOnly + heading + ":\n  " + name + ":" + value + "\n"
	}
	return keysOnly + key + ":" + value + "\n"
}

// A guard, a limit or a time zone is not lost by a line that is left unfinished.
func TestNothingBehindTheColonIsTheDefault(t *testing.T) {
	usual, err := Parse([]byte(keysOnly), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	forms := []string{"", " null", " ~"}
	for i, key := range slices.Sorted(maps.Keys(knownSettings(t))) {
		nothing := forms[i%len(forms)]
		cfg, err := Parse([]byte(written(key, nothing)), nil, nil)
		switch key {
		case "sync_token", "source_password": // their default is refused
			if err == nil || !strings.HasPrefix(err.Error(), key+": must ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s:%s: %v", key, nothing, err)
			}
			continue
		case "station_key":
			cfg.StationKey = usual.StationKey
		}
		if err != nil || !reflect.DeepEqual(cfg, usual) {
			t.Errorf("%s:%s differs from the defaults: %v", key, nothing, err)
		}
	}
}

// Compose and unit files hand on variables that nobody has set as empty ones.
func TestAnEmptyVariableIsAsIfUnsetUnlessEmptyMeansSomething(t *testing.T) {
	emptied := map[string]bool{"station_key": true, "bulletin.headlines": true, "chat.welcome": true}
	usual, err := Parse([]byte(keysOnly), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, byDefault := range knownSettings(t) {
		name := "ATHIR_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		cfg, err := Parse([]byte(keysOnly), nil, []string{name + "="})
		if same := fmt.Sprint(cfg) == fmt.Sprint(usual); err != nil || same == emptied[key] {
			t.Errorf("%s=: %v; as if unset: %v", name, err, same)
		}
		// The same in the file.
		text, isText := byDefault.(string)
		if list, isList := byDefault.([]any); isText && text != "" && !emptied[key] || isList && len(list) == 0 {
			if cfg, err := Parse([]byte(written(key, ` ""`)), nil, nil); err != nil || !reflect.DeepEqual(cfg, usual) {
				t.Errorf(`%s: "": %v`, key, err)
			}
		}
	}
	// What the file says stays, unless the variable means none.
	text := keysOnly + "limits:\n  writing: 7\ncontent:\n  networks: [10.0.0.0/8]\nspeech:\n  name: Nile\n"
	cfg, err := Parse([]byte(text), nil, []string{"ATHIR_LIMITS_WRITING=", "SYNC_TOKEN=", "SOURCE_PASSWORD=", "ATHIR_CONTENT_NETWORKS=", "ATHIR_SPEECH_NAME="})
	if err != nil || cfg.Limits.Writing != 7 || cfg.SyncToken != "x" || cfg.SourcePassword != "abcdefgh" || len(cfg.Content.Networks) > 0 || cfg.Speech.Name != "" {
		t.Errorf("got %+v, %v", cfg, err)
	}
}

// No comparison holds for NaN, so that no bound would.
func TestNumbersThatAreNoneAreRefusedEverywhere(t *testing.T) {
	numbers, usual := 0, knownSettings(t)
	inFile, inVariable := []string{" .nan", " .inf", " -.inf", ` "NaN"`}, []string{"nan", "Inf", "-infinity"}
	for _, key := range slices.Sorted(maps.Keys(usual)) {
		if !number(usual[key]) {
			continue
		}
		numbers++
		none, variable := inFile[numbers%len(inFile)], inVariable[numbers%len(inVariable)]
		_, err := Parse([]byte(written(key, none)), nil, nil)
		if err == nil || !strings.HasPrefix(err.Error(), key+": ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:%s: %v", key, none, err)
		}
		name := "ATHIR_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		if _, err := Parse([]byte(keysOnly), nil, []string{name + "=" + variable}); err == nil || !strings.HasPrefix(err.Error(), key+": ") {
			t.Errorf("%s=%s: %v", name, variable, err)
		}
	}
	if numbers < 30 {
		t.Errorf("looked at %d settings", numbers)
	}
	if cfg, err := Parse([]byte(keysOnly+"name: Inf\n"), nil, nil); err != nil || cfg.Name != "Inf" {
		t.Errorf("a station's name: %v", err)
	}
}
