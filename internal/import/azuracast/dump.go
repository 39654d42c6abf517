package azuracast

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	mostRows    = 2_000_000 // kept, of all tables
	mostKept    = 1 << 30   // bytes of them
	mostRow     = 32 << 20  // bytes of one row
	mostColumns = 512
)

// cell is one value of a row.
type cell struct {
	text string
	null bool
}

// table is what a dump has of one table.
type table struct {
	columns []string
	rows    [][]cell
}

// row is one row, by the names of its columns.
type row struct {
	t     *table
	cells []cell
}

func (t *table) each(use func(row)) {
	if t == nil {
		return
	}
	for _, cells := range t.rows {
		use(row{t, cells})
	}
}

func (t *table) len() int {
	if t == nil {
		return 0
	}
	return len(t.rows)
}

// has reports a column.
func (t *table) has(column string) bool { return t != nil && slices.Contains(t.columns, column) }

func (r row) cell(column string) cell {
	i := slices.Index(r.t.columns, column)
	if i < 0 || i >= len(r.cells) {
		return cell{null: true}
	}
	return r.cells[i]
}

// str is a value as valid text without control characters but line ends.
func (r row) str(column string) string { return clean(r.cell(column).text) }

func (r row) int(column string) int {
	n, err := strconv.ParseInt(r.cell(column).text, 10, 64)
	if err != nil {
		f := r.float(column)
		if math.Abs(f) > 1e15 {
			return 0
		}
		return int(f)
	}
	return int(n)
}

func (r row) bool(column string) bool { return r.int(column) != 0 }

func (r row) float(column string) float64 {
	f, err := strconv.ParseFloat(r.cell(column).text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// dump reads tables out of a dump. It keeps the rows of those in wanted, and counts those of
// all others.
type dump struct {
	tables map[string]*table
	counts map[string]int
	rows   int
	bytes  int
	most   int // bytes that may be kept
}

func wanted(called string) bool {
	switch called {
	case "station", "settings", "storage_location", "station_media", "station_playlists", "station_playlist_media", "station_schedules", "station_streamers", "station_webhooks", "station_playlist_folders":
		return true
	}
	return false
}

// counted are tables of which only the number matters: what does not come over.
func counted(called string) bool {
	switch called {
	case "station_mounts", "station_remotes", "station_hls_streams", "station_requests", "song_history", "listener", "podcast", "podcast_episode",
		"sftp_user", "users", "custom_field", "station_media_custom_field", "station_streamer_broadcasts":
		return true
	}
	return false
}

// readDump reads a dump to its end. An error says where it stopped.
func readDump(r io.Reader) (*dump, error) { return newDump().read(newLexer(r)) }

func newDump() *dump {
	return &dump{tables: map[string]*table{}, counts: map[string]int{}, most: mostKept}
}

func (d *dump) read(l *lexer) (*dump, error) {
	for {
		t, err := l.next()
		switch {
		case err != nil:
		case t.kind == atEnd:
			if len(d.tables) == 0 {
				return nil, errNotAzura
			}
			return d, nil
		case t.mark(";"):
		case t.is("create"):
			err = d.create(l)
		case t.is("insert"), t.is("replace"):
			err = d.insert(l)
		case t.is("set"):
			err = set(l)
		case t.is("delimiter"): // what follows is for servers: triggers
			err = l.line()
		default:
			err = skip(l)
		}
		if err != nil && len(d.tables) == 0 && l.charset == "" && !isRead(err) {
			return nil, errNotAzura // it is something else
		}
		if err != nil {
			return nil, fmt.Errorf("the database dump, byte %d: %w", l.at, err)
		}
	}
}

// isRead reports an error of reading, and not of what was read.
func isRead(err error) bool {
	return !errors.Is(err, errCut) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*fs.PathError)))
}

var errNotAzura = errors.New("it is no backup of AzuraCast: choose the file that azuracast:backup makes")

var errCut = errors.New("it ends in the middle of a statement: the backup is not whole")

// skip reads to the end of a statement.
func skip(l *lexer) error {
	l.keep = false
	defer func() { l.keep = true }()
	for {
		t, err := l.next()
		if err != nil {
			return err
		}
		if t.kind == atEnd {
			return errCut
		}
		if t.mark(";") {
			return nil
		}
	}
}

func set(l *lexer) error {
	var words []string
	for {
		t, err := l.next()
		switch {
		case err != nil:
			return err
		case t.kind == atEnd:
			return errCut
		case t.mark(";"):
			if len(words) >= 2 && strings.EqualFold(words[0], "names") {
				l.setCharset(words[1])
			}
			return nil
		}
		if len(words) < 4 {
			words = append(words, t.text)
		}
	}
}

// create reads the columns of a CREATE TABLE.
func (d *dump) create(l *lexer) error {
	t, err := l.next()
	if err != nil {
		return err
	}
	if !t.is("table") {
		return skip(l)
	}
	called := ""
	for !t.mark("(") {
		switch {
		case t.kind == atEnd:
			return errCut
		case t.mark(";"):
			return nil
		case t.kind == name, t.kind == word:
			called = t.text
		}
		if t, err = l.next(); err != nil {
			return err
		}
	}
	columns, err := columnsOf(l)
	if err != nil {
		return err
	}
	if wanted(called) {
		d.tables[called] = &table{columns: columns}
	}
	return skip(l)
}

// columnsOf reads what stands between the brackets of a CREATE TABLE.
func columnsOf(l *lexer) (out []string, err error) {
	for depth, begins := 1, true; ; {
		t, err := l.next()
		switch {
		case err != nil:
			return nil, err
		case t.kind == atEnd:
			return nil, errCut
		case t.mark("("):
			depth++
		case t.mark(")"):
			if depth--; depth == 0 {
				return out, nil
			}
		case t.mark(",") && depth == 1:
			begins = true
			continue
		case begins && (t.kind == name || t.kind == word && !isKey(t)):
			if out = append(out, t.text); len(out) > mostColumns {
				return nil, errors.New("a table has more than 512 columns")
			}
		}
		begins = false
	}
}

// isKey reports a word that begins a key and no column.
func isKey(t token) bool {
	return slices.ContainsFunc([]string{"primary", "key", "unique", "index", "constraint", "fulltext", "spatial", "foreign", "check", "period"}, t.is)
}

// insert reads the rows of an INSERT.
func (d *dump) insert(l *lexer) error {
	called, columns := "", []string(nil)
	for {
		t, err := l.next()
		switch {
		case err != nil:
			return err
		case t.kind == atEnd:
			return errCut
		case t.mark(";"):
			return nil
		case t.mark("(") && called != "":
			if columns, err = columnsOf(l); err != nil {
				return err
			}
			continue
		case t.is("values"), t.is("value"):
			return d.values(l, called, columns)
		case t.kind == name, t.kind == word && !t.is("into") && !t.is("ignore") && !t.is("delayed"):
			called = t.text
		}
	}
}

func (d *dump) values(l *lexer, called string, columns []string) error {
	if !wanted(called) && !counted(called) {
		return skip(l)
	}
	kept := d.tables[called]
	l.keep = kept != nil
	defer func() { l.keep = true }()
	if kept != nil && columns != nil && !slices.Equal(columns, kept.columns) {
		if len(kept.rows) > 0 {
			return fmt.Errorf("table %s: two statements name other columns", called)
		}
		kept.columns = columns
	}
	for {
		t, err := l.next()
		switch {
		case err != nil:
			return err
		case t.mark(";"):
			return nil
		case t.mark(","):
			continue
		case t.kind == atEnd:
			return errCut
		case !t.mark("("):
			return fmt.Errorf("table %s: %.40q where a row should begin", called, t.text)
		}
		cells, err := d.tuple(l, kept)
		if err != nil {
			return fmt.Errorf("table %s: %w", called, err)
		}
		d.counts[called]++
		if kept == nil {
			continue
		}
		if len(cells) != len(kept.columns) {
			return fmt.Errorf("table %s: a row has %d values for %d columns", called, len(cells), len(kept.columns))
		}
		if d.rows++; d.rows > mostRows {
			return errTooMuch
		}
		kept.rows = append(kept.rows, cells)
	}
}

var errTooMuch = errors.New("it holds more than 2,000,000 rows or 1 GiB of tracks and playlists")

// tuple reads one row after its bracket, and keeps it for a table that is not nil. It ends at the
// first value that is too much: a row may be written to be larger than all memory.
func (d *dump) tuple(l *lexer, into *table) (out []cell, err error) {
	before := d.bytes
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		if t.kind == word && strings.HasPrefix(t.text, "_") { // _binary 'x'
			if t, err = l.next(); err != nil {
				return nil, err
			}
		}
		var c cell
		switch {
		case t.kind == text, t.kind == number:
			c.text = t.text
		case t.is("null"):
			c.null = true
		case t.is("true"):
			c.text = "1"
		case t.is("false"):
			c.text = "0"
		case t.kind == atEnd:
			return nil, errCut
		default:
			return nil, fmt.Errorf("%.40q where a value should be", t.text)
		}
		if into != nil {
			if len(out) == len(into.columns) {
				return nil, fmt.Errorf("a row has more than %d values, one for each column", len(out))
			}
			out = append(out, c)
			switch d.bytes += len(c.text) + 24; {
			case d.bytes > d.most:
				return nil, errTooMuch
			case d.bytes-before > mostRow:
				return nil, errors.New("a row has more than 32 MiB")
			}
		}
		switch t, err = l.next(); {
		case err != nil:
			return nil, err
		case t.mark(")"):
			return out, nil
		case t.kind == atEnd:
			return nil, errCut
		case !t.mark(","):
			return nil, fmt.Errorf("%.40q after a value", t.text)
		}
	}
}
