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
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"

	"github.com/athir-radio/athir"
	"github.com/athir-radio/athir/internal/kit/file"
)

// LastFile is where a supervisor keeps the settings that it was started with.
func LastFile(dataDir string) string { return filepath.Join(dataDir, "node", lastName) }

// ErrNotYAML is a settings file that is no YAML: nothing of it can be read.
var ErrNotYAML = errors.New("not valid YAML")

// Source is where settings come from. Flags and Env win over the file.
type Source struct {
	DataDir string
	// Controls: the process serves the station's controls, and needs the station key.
	Controls bool
	Flags    map[string]any // dotted setting path to value
	Env      []string       // as os.Environ gives it
	// Last: where the file cannot be used, the settings of the supervisor that started this
	// process hold. Supervises: they are kept for that.
	Last, Supervises bool
	// Now is the clock by which replaced secrets end; time.Now when nil.
	Now func() time.Time
}

// lastName is the file of the settings that a supervisor was started with, within the
// node's folder. It holds the keys, and is closed as the settings are.
const lastName = "settings.last"

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
	path, last := filepath.Join(dir, FileName), LastFile(dir)
	if src.Last {
		if _, missing := os.Stat(last); missing == nil {
			return loadOrLast(src, dir, path, last)
		}
	}
	first, err = createOnce(path)
	if err != nil {
		return nil, false, err
	}
	cfg, text, err := read(src, dir, path)
	if err != nil {
		return nil, first, err
	}
	if src.Supervises {
		if err := file.WriteAtomic(last, text, 0o600); err != nil {
			cfg.Warnings = append(cfg.Warnings, fmt.Sprintf("cannot keep the settings for a restart after %s is damaged: %v", path, err))
		}
	}
	return cfg, first, nil
}

// loadOrLast reads the settings, or those that the supervisor was started with.
func loadOrLast(src Source, dir, path, last string) (*Config, bool, error) {
	cfg, _, err := read(src, dir, path)
	if err == nil {
		return cfg, false, nil
	}
	cfg, _, lerr := read(src, dir, last)
	if lerr != nil {
		return nil, false, err
	}
	cfg.Unusable = err.Error()
	return cfg, false, nil
}

// read reads one settings file.
func read(src Source, dir, path string) (*Config, []byte, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator's own file
	if err != nil {
		return nil, nil, fmt.Errorf("read settings: %w", err)
	}
	cfg, err := Parse(text, src.Flags, src.Env)
	if cfg == nil {
		return nil, nil, fmt.Errorf("settings %s:\n%w", path, err)
	}
	cfg.DataDir, cfg.Env, cfg.source = dir, settingsOf(src.Env), src
	if src.Controls {
		err = errors.Join(err, cfg.closed())
	}
	if err = errors.Join(err, cfg.apart()); err != nil {
		return nil, nil, fmt.Errorf("settings %s:\n%w", path, err)
	}
	cfg.hold(src.Now)
	cfg.Warnings = append(readableByOthers(path), strangers(src.Env)...)
	return cfg, text, nil
}

// Parse reads the text of a settings file over the defaults, then env and flags.
// The error joins one line for every wrong setting; the Config is then as far as it
// goes, and nil where the text is no YAML.
func Parse(text []byte, flags map[string]any, env []string) (*Config, error) {
	k := koanf.New(".")
	if err := k.Load(rawbytes.Provider(athir.ExampleSettings), yaml.Parser()); err != nil {
		return nil, fmt.Errorf("parse example settings: %w", err)
	}
	defaults, known := k.All(), k.Keys()
	own := koanf.New(".")
	if len(bytes.TrimSpace(text)) > 0 {
		if err := own.Load(rawbytes.Provider(text), yaml.Parser()); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotYAML, err)
		}
	}
	fromFile, wrong := own.All(), []error(nil)
	for _, key := range own.Keys() {
		switch {
		case slices.Contains(known, key):
		case fromFile[key] == nil && heading(key, known): // a heading with nothing below it sets nothing
			delete(fromFile, key)
		default:
			wrong = append(wrong, fmt.Errorf("%s: no such setting%s: see athir.example.yaml for the names", key, didYouMean(key, known)))
			delete(fromFile, key)
		}
	}
	var lists []string
	for _, key := range known {
		if _, ok := k.Get(key).([]any); ok {
			lists = append(lists, key)
		}
	}
	fromEnv, err := environment(env, known, lists)
	wrong = append(wrong, err)
	for _, layer := range []map[string]any{fromFile, fromEnv, flags} {
		settings, nonsense := present(layer, defaults)
		wrong = append(wrong, nonsense...)
		if err := k.Load(confmap.Provider(settings, "."), nil); err != nil {
			return nil, err
		}
	}
	cfg, errs := decode(k, defaults)
	return cfg, errors.Join(append(append(wrong, errs...), cfg.Validate())...)
}

// decode reads every setting. One that cannot be read has its default, so that the
// others can be looked at: an error for each.
func decode(k *koanf.Koanf, defaults map[string]any) (*Config, []error) {
	var wrong []error
	for {
		cfg := &Config{}
		err := k.UnmarshalWithConf("", cfg, koanf.UnmarshalConf{DecoderConfig: &mapstructure.DecoderConfig{
			Result: cfg, TagName: "koanf", WeaklyTypedInput: true, DecodeHook: mapstructure.TextUnmarshallerHookFunc(),
		}})
		if err == nil {
			return cfg, wrong
		}
		mended := 0
		for _, e := range leaves(err) {
			var of *mapstructure.DecodeError
			if !errors.As(e, &of) {
				wrong = append(wrong, e)
				continue
			}
			wrong = append(wrong, unread(of))
			name, _, _ := strings.Cut(of.Name(), "[") // an element of a list
			if usual, known := defaults[name]; known && k.Set(name, usual) == nil {
				mended++
				delete(defaults, name) // a second time it is no mend
			}
		}
		if mended == 0 {
			return cfg, wrong
		}
	}
}

// leaves are the errors that a decoder's error joins, without its preamble.
func leaves(err error) []error {
	var joined interface{ WrappedErrors() []error }
	if errors.As(err, &joined) {
		return joined.WrappedErrors()
	}
	var several interface{ Unwrap() []error }
	if !errors.As(err, &several) {
		return []error{err}
	}
	var out []error
	for _, e := range several.Unwrap() {
		out = append(out, leaves(e)...)
	}
	return out
}

func heading(key string, known []string) bool {
	return slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, key+".") })
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
