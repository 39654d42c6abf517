package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	yamlnode "go.yaml.in/yaml/v3"

	"github.com/athir-radio/athir/internal/kit/file"
)

// NewSecret asks for a secret in the place of another.
type NewSecret struct {
	Name string // one of Rotating
	// Value is the new one; a random one when empty.
	Value string
	// Keep is how long the old one holds beside it; 0: not at all, nor do those before it.
	Keep time.Duration
	Now  time.Time
}

const (
	// longestKeep bounds Keep: a secret that holds for ever was not replaced.
	longestKeep = 90 * 24 * time.Hour
	// shortestSecret is as short as a password for the internet may be, in characters.
	shortestSecret = 8
)

// ErrSame says that the new secret is the one in force.
var ErrSame = errors.New("it is in force already")

// Rotate writes a new secret into the settings file of a data directory, and beside it the
// old one with its end. All else in the file stays as it is, comments included. It tells no
// process. What it returns has the new secret.
func Rotate(dataDir string, n NewSecret) (value string, done Rotation, err error) {
	switch {
	case !slices.Contains(Rotating(), n.Name):
		return "", done, fmt.Errorf("%q is no secret that can be rotated: use one of %s", n.Name, strings.Join(Rotating(), ", "))
	case n.Keep < 0 || n.Keep > longestKeep:
		return "", done, fmt.Errorf("an old secret may hold for up to %d h, not %s", longestKeep/time.Hour, n.Keep)
	case n.Value != "" && (len(n.Value) < shortestSecret || !printable(n.Value)):
		return "", done, fmt.Errorf("%s: must have at least %d characters, printable ASCII without spaces, quotes or backslashes", n.Name, shortestSecret)
	}
	value = n.Value
	if value == "" {
		value = newKey()
	}
	path := filepath.Join(dataDir, FileName)
	unlock, err := lockSettings(path)
	if err != nil {
		return "", done, err
	}
	defer unlock()
	text, err := os.ReadFile(path) //nolint:gosec // the operator's own file
	if err != nil {
		return "", done, fmt.Errorf("read settings: %w", err)
	}
	cfg, err := Parse(text, nil, nil)
	if err != nil {
		return "", done, fmt.Errorf("settings %s:\n%w", path, err)
	}
	if cfg.text(n.Name) == value {
		return value, done, ErrSame
	}
	done = Rotation{Name: n.Name, At: n.Now.UTC().Truncate(time.Second)}
	if n.Keep > 0 && cfg.text(n.Name) != "" {
		done.Old, done.Until = cfg.text(n.Name), wholeSecond(n.Now.Add(n.Keep))
	}
	next, err := edit(text, n.Name, value, cfg.after(done, value, n.Now))
	if err != nil {
		return "", done, fmt.Errorf("settings %s: %w", path, err)
	}
	if err := file.Replace(path, next); err != nil {
		return "", done, fmt.Errorf("write settings: %w: the old secret stays in force", err)
	}
	return value, done, nil
}

// wholeSecond is the first whole second not before t.
func wholeSecond(t time.Time) time.Time { return t.Add(time.Second - 1).UTC().Truncate(time.Second) }

// lockSettings keeps a second rotation off the settings. The lock is on their file, which others
// cannot open as a rule: on the folder anybody could hold it who may look into that, and no
// secret that leaked could be replaced. A rotation puts another file in its place, so the one
// that is locked must be the one that is there.
func lockSettings(path string) (unlock func(), err error) {
	for {
		f, err := os.Open(path) //nolint:gosec // the operator's own file
		if err != nil {
			return nil, fmt.Errorf("read settings: %w", err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			return nil, errors.Join(fmt.Errorf("another secret in %s is being rotated: wait for that", path), f.Close())
		}
		mine, err := f.Stat()
		there, gone := os.Stat(path)
		if err == nil && gone == nil && os.SameFile(mine, there) {
			return func() { _ = f.Close() }, nil
		}
		_ = f.Close()
		if err = errors.Join(err, gone); err != nil {
			return nil, fmt.Errorf("read settings: %w", err)
		}
	}
}

// after are the items of the setting rotated after one more rotation: what still holds, and
// of each secret when it was last replaced.
func (c *Config) after(done Rotation, value string, now time.Time) []string {
	items, known := []string{done.String()}, map[string]bool{done.Name: true}
	for _, r := range c.Rotations() {
		holds := r.Old != "" && now.Before(r.Until)
		if r.Name == done.Name { // without grace, none of them
			holds = holds && done.Old != "" && r.Old != value
		}
		if !holds {
			r.Old = ""
		}
		if holds || !known[r.Name] {
			items = append(items, r.String())
		}
		known[r.Name] = true
	}
	return items
}

// edit returns a settings text with another secret and other items of the setting rotated.
func edit(text []byte, name, value string, rotated []string) ([]byte, error) {
	next, err := setText(text, name, value)
	if err == nil {
		next, err = setItems(next, "rotated", rotated)
	}
	if err != nil {
		return nil, err
	}
	// Whatever the file looks like, it must say what it said before, but for these two.
	want, err := flat(text)
	if err != nil {
		return nil, err
	}
	got, err := flat(next)
	if err != nil {
		return nil, odd(name)
	}
	items := make([]any, len(rotated))
	for i, item := range rotated {
		items[i] = item
	}
	want[name], want["rotated"] = value, items
	if !maps.EqualFunc(got, want, func(a, b any) bool { return reflect.DeepEqual(a, b) }) {
		return nil, odd(name)
	}
	return next, nil
}

func odd(name string) error {
	return fmt.Errorf(`%s: it is written in a way that this command does not change: write it on a line of its own as %s: "..."`, name, name)
}

// flat are the settings of a text by their whole names.
func flat(text []byte) (map[string]any, error) {
	k := koanf.New(".")
	if len(bytes.TrimSpace(text)) == 0 {
		return map[string]any{}, nil
	}
	if err := k.Load(rawbytes.Provider(text), yaml.Parser()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotYAML, err)
	}
	return k.All(), nil
}

// find returns where a setting of the outermost level stands; nil where it does not.
func find(text []byte, name string) (key, value *yamlnode.Node, err error) {
	var doc yamlnode.Node
	if err := yamlnode.Unmarshal(text, &doc); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrNotYAML, err)
	}
	if len(doc.Content) == 0 {
		return nil, nil, nil // only comments
	}
	pairs := doc.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i].Value == name {
			return pairs[i], pairs[i+1], nil
		}
	}
	return nil, nil, nil
}

// setText gives a setting another text, in its place.
func setText(text []byte, name, value string) ([]byte, error) {
	key, at, err := find(text, name)
	if err != nil {
		return nil, err
	}
	quoted := `"` + value + `"`
	if key == nil {
		return appended(text, name+": "+quoted), nil
	}
	lines := strings.SplitAfter(string(text), "\n")
	if at.Tag == "!!null" && at.Value == "" { // nothing behind the colon
		at.Line, at.Column = key.Line, key.Column+len(name)+1
		quoted = " " + quoted
	}
	line := lines[at.Line-1]
	if at.Kind != yamlnode.ScalarNode || at.Column-1 > len(line) {
		return nil, odd(name)
	}
	before, rest := line[:at.Column-1], line[at.Column-1:]
	length, ok := scalarLength(rest, at)
	if !ok {
		return nil, odd(name)
	}
	lines[at.Line-1] = before + quoted + rest[length:]
	return []byte(strings.Join(lines, "")), nil
}

// scalarLength is how much of a line a value at its beginning takes, in bytes.
func scalarLength(rest string, at *yamlnode.Node) (int, bool) {
	switch {
	case at.Style == yamlnode.DoubleQuotedStyle || at.Style == yamlnode.SingleQuotedStyle:
		if rest == "" || rest[0] != '"' && rest[0] != '\'' {
			return 0, false // an anchor or a tag stands before it
		}
		end := strings.IndexByte(rest[1:], rest[0])
		return end + 2, end >= 0 // secrets hold neither quotes nor backslashes
	case at.Style == 0:
		return len(at.Value), strings.HasPrefix(rest, at.Value)
	}
	return 0, false
}

// setItems gives a setting another list, in its place.
func setItems(text []byte, name string, items []string) ([]byte, error) {
	key, at, err := find(text, name)
	if err != nil {
		return nil, err
	}
	block := name + ":\n"
	for _, item := range items {
		block += `  - "` + item + "\"\n"
	}
	if key == nil {
		return appended(text, "# Written by 'athir rotate': which secret it replaced, when, and until when the old one holds.\n"+strings.TrimSuffix(block, "\n")), nil
	}
	if key.Column != 1 {
		return nil, odd(name)
	}
	lines := strings.SplitAfter(string(text), "\n")
	last := max(key.Line, lastLine(at))
	return []byte(strings.Join(lines[:key.Line-1], "") + block + strings.Join(lines[last:], "")), nil
}

// lastLine is the last line of a value, but for a bracket that closes it.
func lastLine(n *yamlnode.Node) int {
	last := n.Line
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}

// appended is a text with a line more.
func appended(text []byte, line string) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text[:len(text):len(text)], '\n')
	}
	return append(text[:len(text):len(text)], line+"\n"...)
}
