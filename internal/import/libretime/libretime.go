// Package libretime reads a station of LibreTime, or of the Airtime that it came from: out of
// the plain SQL that pg_dump writes, or from the HTTP API v2 of a running one. It changes
// nothing there.
//
// The formats are those of LibreTime 3 and 4 (api/libretime_api/legacy/migrations/sql/schema.sql
// and the serializers beside it). Of dumps also those of Airtime 2.5 are read: there a file lies
// in a folder of cc_music_dirs. What is read is taken for hostile: passwords are not kept, and a
// path that leads out of the media folder is left out.
package libretime

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/kit/fetch"
)

// System is how the other system is called.
const System = "LibreTime"

// Source is where a station is read from: File, or Address.
type Source struct {
	// File is a dump: plain, or in a gzip, zstd or zip file.
	File string
	// Address of a running LibreTime, as https://radio.example.org, with the API key of its
	// config.yml or an administrator's login, and what reaches it. A key may not read users.
	Address, Key   string
	User, Password string
	Fetch          *fetch.Client

	Media fs.FS  // the storage folder, with imported/ in it; nil: none
	Temp  string // folder for files on their way; empty: the system's
	// Space is how much a disk takes, and how large it is; file.Space when nil.
	Space func(dir string) (free, size uint64, err error)
	// Now is the time from which shows are looked at; those that are over do not come over.
	Now time.Time
}

// Read reads a station. Its Close is to be called when the tracks' files are not needed any more.
func Read(ctx context.Context, from Source) (*model.Station, error) {
	var db *database
	var open opener
	var err error
	if from.Address != "" {
		r := newRemote(from)
		if db, err = r.read(ctx); err != nil {
			return nil, err
		}
		open = r.opening(ctx)
	} else if db, err = readFile(ctx, from.File); err != nil {
		return nil, fmt.Errorf("%s: %w", from.File, err)
	}
	if from.Media != nil {
		open = beside(from.Media)
	}
	if from.Now.IsZero() {
		from.Now = time.Now()
	}
	return (&reading{db: db, open: open, now: from.Now}).station(), nil
}

// note is a sentence in both languages.
func note(en, ar string) model.Note { return model.Note{En: en, Ar: ar} }

// Bounds of texts, in bytes.
const (
	mostText   = 4 << 10
	mostLyrics = 256 << 10
)

// clean is text from outside as it is kept: valid, bounded, and without control characters but
// line ends.
func clean(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069':
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "�")))
}
