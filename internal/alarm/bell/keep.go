package bell

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"github.com/athir-radio/athir/internal/kit/file"
)

// load reads what the process before has kept, by receiver. A file that cannot be read is as
// none: then an all-clear may be missing.
func load(log *slog.Logger, path string) map[string]kept {
	text, err := os.ReadFile(path) //nolint:gosec // the station's own file
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var out map[string]kept
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		log.Warn("cannot read which alarms were told: they are told anew", "file", path, "err", err)
		return nil
	}
	return out
}

// save writes what receivers were told. A full disk, of which they may just be told, is no
// reason not to tell: then only a restart forgets it.
func (b *Bell) save() {
	b.saving.Lock()
	defer b.saving.Unlock()
	b.mu.Lock()
	all := map[string]kept{}
	for _, l := range b.lines {
		all[l.to.Name] = l.book.keep()
	}
	b.mu.Unlock()
	text, err := json.Marshal(all)
	if err == nil {
		err = file.WriteAtomic(b.opt.File, text, 0o600)
	}
	if err != nil {
		b.opt.Log.Warn("cannot keep which alarms were told", "file", b.opt.File, "err", err)
	}
}
