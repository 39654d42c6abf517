package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"

	"github.com/athir-radio/athir"
)

// Source is where settings come from. Flags and Env win over the file.
type Source struct {
	DataDir string
	Flags   map[string]any // dotted setting path to value
	Env     []string       // as os.Environ gives it
}

// Load reads the settings of a data directory. It makes the directory and, on
// a first start, the settings file with random keys; first reports that.
func Load(src Source) (cfg *Config, first bool, err error) {
	dir, err := filepath.Abs(src.DataDir)
	if err != nil {
		return nil, false, fmt.Errorf("find data directory %q: %w", src.DataDir, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "node"), 0o755); err != nil {
		return nil, false, fmt.Errorf("make data directory: %w: choose another with --data", err)
	}
	path := filepath.Join(dir, FileName)
	first, err = createOnce(path)
	if err != nil {
		return nil, false, err
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator's own file
	if err != nil {
		return nil, first, fmt.Errorf("read settings: %w", err)
	}
	cfg, err = Parse(text, src.Flags, src.Env)
	if err != nil {
		return nil, first, fmt.Errorf("settings %s:\n%w", path, err)
	}
	cfg.DataDir, cfg.Env = dir, settingsOf(src.Env)
	if err := cfg.apart(); err != nil {
		return nil, first, fmt.Errorf("settings %s:\n%w", path, err)
	}
	return cfg, first, nil
}

// Parse reads the text of a settings file over the defaults, then env and flags.
// The error joins one line for every wrong setting.
func Parse(text []byte, flags map[string]any, env []string) (*Config, error) {
	k := koanf.New(".")
	if err := k.Load(rawbytes.Provider(athir.ExampleSettings), yaml.Parser()); err != nil {
		return nil, fmt.Errorf("parse example settings: %w", err)
	}
	known := k.Keys()
	own := koanf.New(".")
	if len(bytes.TrimSpace(text)) > 0 {
		if err := own.Load(rawbytes.Provider(text), yaml.Parser()); err != nil {
			return nil, fmt.Errorf("not valid YAML: %w", err)
		}
	}
	// A heading with nothing below it sets nothing.
	for _, key := range own.Keys() {
		if own.Get(key) == nil && heading(key, known) {
			own.Delete(key)
		}
	}
	if err := unknown(own.Keys(), known); err != nil {
		return nil, err
	}
	fromEnv, err := environment(env, known)
	if err != nil {
		return nil, err
	}
	for _, layer := range []map[string]any{own.All(), fromEnv, flags} {
		if err := k.Load(confmap.Provider(layer, "."), nil); err != nil {
			return nil, err
		}
	}
	cfg := &Config{}
	conf := koanf.UnmarshalConf{DecoderConfig: &mapstructure.DecoderConfig{
		Result: cfg, TagName: "koanf", WeaklyTypedInput: true, DecodeHook: mapstructure.TextUnmarshallerHookFunc(),
	}}
	if err := k.UnmarshalWithConf("", cfg, conf); err != nil {
		return nil, decodeError(err)
	}
	return cfg, cfg.Validate()
}

func heading(key string, known []string) bool {
	return slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, key+".") })
}

func unknown(have, known []string) error {
	var wrong []error
	for _, key := range have {
		if !slices.Contains(known, key) {
			wrong = append(wrong, fmt.Errorf("%s: no such setting: see athir.example.yaml for the names", key))
		}
	}
	return errors.Join(wrong...)
}

// decodeError keeps one line per wrong setting, without the decoder's preamble.
func decodeError(err error) error {
	var joined interface{ WrappedErrors() []error }
	if !errors.As(err, &joined) {
		return err
	}
	var wrong []error
	for _, e := range joined.WrappedErrors() {
		wrong = append(wrong, errors.New(strings.ReplaceAll(e.Error(), "'", "")))
	}
	return errors.Join(wrong...)
}

// environment picks the settings out of the environment.
func environment(env, known []string) (map[string]any, error) {
	names := map[string]string{}
	for _, key := range known {
		names["ATHIR_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))] = key
	}
	for name, key := range shortNames() {
		names[name] = key
	}
	out := map[string]any{}
	var wrong []error
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch key, ok := names[name]; {
		case ok:
			out[key] = value
		case strings.HasPrefix(name, "ATHIR_PORTS_"):
			wrong = append(wrong, fmt.Errorf("environment %s: no such port: see ports in athir.example.yaml", name))
		}
	}
	return out, errors.Join(wrong...)
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

// createOnce writes the settings file of a first start; false when one is there.
func createOnce(path string) (bool, error) {
	if _, err := os.Stat(path); err == nil {
		return false, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("look for settings file: %w", err)
	}
	text, err := withKeys(athir.ExampleSettings)
	if err != nil {
		return false, err
	}
	// A temporary file and a link: never a half-written one, never over another's.
	tmp, err := os.CreateTemp(filepath.Dir(path), ".athir-*.yaml")
	if err != nil {
		return false, fmt.Errorf("write settings: %w: the data directory must be writable", err)
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // a leftover does no harm
	_, err = tmp.Write(text)    // CreateTemp makes it 0600
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return false, fmt.Errorf("write settings: %w", err)
	}
	if err := os.Link(tmp.Name(), path); errors.Is(err, fs.ErrExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("write settings: %w", err)
	}
	return true, nil
}
