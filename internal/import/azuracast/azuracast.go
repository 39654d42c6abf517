// Package azuracast reads a station of AzuraCast: from a backup as azuracast:backup makes it
// (a zip, or a tar with gzip or zstd; db.sql of mariadb-dump and, unless it was left out, the
// media), from the dump alone, or from the HTTP API of a running one. It changes nothing there.
//
// The formats are those of AzuraCast 0.23.7 (backend/src/Entity, Console/Command/Backup,
// Controller/Api/Stations). Of dumps also older ones are read: before the migration
// Version20201027130404 a track belonged to a station and not to a storage location, and before
// extra_metadata came cues were columns of station_media (fade_overlap until Version20240529175534,
// then fade_start_next). What is read is taken for hostile.
package azuracast

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/kit/fetch"
)

// System is how the other system is called.
const System = "AzuraCast"

// Source is where a station is read from: File, or Address.
type Source struct {
	File string // of a backup or dump
	// Address of a running AzuraCast, as https://radio.example.org, its API key, and what
	// reaches it.
	Address, Key string
	Fetch        *fetch.Client

	Station string // name or short name; empty: the only one
	Media   fs.FS  // the station's media folder, where the backup has none; nil: none
	Temp    string // folder for files on their way; empty: the system's
	// Space is how much a disk takes, and how large it is; file.Space when nil.
	Space func(dir string) (free, size uint64, err error)
}

// Read reads a station. Its Close is to be called when the tracks' files are not needed any more.
func Read(ctx context.Context, from Source) (*model.Station, error) {
	if from.Address != "" {
		return readAPI(ctx, from)
	}
	b, err := openBundle(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from.File, err)
	}
	st, err := fromDump(b, from)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", from.File, err), b.close())
	}
	return st, nil
}

// chosen finds the station that was asked for. names are name and short name of each.
func chosen(asked string, names [][2]string) (int, error) {
	which := &model.WhichError{Asked: asked}
	for i, n := range names {
		if asked != "" && (strings.EqualFold(n[0], asked) || strings.EqualFold(n[1], asked)) {
			return i, nil
		}
		which.There = append(which.There, n[0])
	}
	switch {
	case len(names) == 0:
		return 0, errors.New("there is no station in it")
	case asked != "" || len(names) > 1:
		return 0, which
	}
	return 0, nil
}

// clean is text from outside as it is kept: valid, and without control characters but line ends.
func clean(s string) string {
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
