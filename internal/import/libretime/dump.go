package libretime

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

const (
	mostRows    = 2_000_000 // of one table
	mostKept    = 512 << 20 // bytes of all
	mostRow     = 32 << 20  // bytes of one row
	mostColumns = 512
)

// table is what is kept of one: of each row the wanted columns. NULL is an empty text.
type table struct {
	at   map[string]int // of a column, its place in a row
	rows [][]string
}

// row is one row, by the names of its columns.
type row struct {
	at    map[string]int
	cells []string
}

// raw is a value as it was written; empty where there is none.
func (r row) raw(column string) string {
	if i, ok := r.at[column]; ok {
		return r.cells[i]
	}
	return ""
}

func (r row) str(column string) string { return clean(r.raw(column), mostText) }

// int is a number; 0 for what is none.
func (r row) int(column string) int {
	n, err := strconv.Atoi(r.raw(column))
	if err != nil {
		return 0
	}
	return n
}

func (r row) bool(column string) bool {
	switch strings.ToLower(r.raw(column)) {
	case "t", "true", "1", "y", "yes", "on":
		return true
	}
	return false
}

// wanted are the columns of a table that are kept; none of one that does not matter. No
// password is among them.
func wanted(table string) []string {
	columns := ""
	switch table {
	case "cc_files":
		columns = "id mime ftype filepath directory import_status track_title artist_name album_title genre length cuein cueout lyrics isrc_number replay_gain file_exists hidden filesize track_type_id track_type"
	case "cc_music_dirs":
		columns = "id directory type"
	case "cc_track_types":
		columns = "id code type_name"
	case "cc_playlist":
		columns = "id name description"
	case "cc_playlistcontents":
		columns = "id playlist_id file_id block_id stream_id type position cuein cueout"
	case "cc_block":
		columns = "id name type"
	case "cc_blockcontents":
		columns = "id block_id file_id position"
	case "cc_blockcriteria":
		columns = "id block_id criteria modifier value extra criteriagroup"
	case "cc_show":
		columns = "id name has_autoplaylist autoplaylist_id autoplaylist_repeat intro_playlist_id outro_playlist_id live_stream_using_custom_auth"
	case "cc_show_days":
		columns = "id show_id first_show last_show start_time timezone duration repeat_type record"
	case "cc_show_hosts":
		columns = "id show_id subjs_id"
	case "cc_subjs":
		columns = "id login type first_name last_name"
	case "cc_webstream":
		columns = "id name url"
	case "cc_pref":
		columns = "id subjid keystr valstr"
	}
	return strings.Fields(columns)
}

// counted are tables of which only the number matters: what does not come over.
func counted(table string) bool {
	switch table {
	case "cc_schedule", "cc_show_rebroadcast", "cc_listener_count", "cc_playout_history", "podcast", "podcast_episodes":
		return true
	}
	return false
}

// database is what is kept of a station's.
type database struct {
	tables map[string]*table
	counts map[string]int
	// declared are the columns of tables in the order in which they are created.
	declared map[string][]string
	bytes    int
	most     int // bytes that may be kept
}

func newDatabase() *database {
	return &database{most: mostKept, tables: map[string]*table{}, counts: map[string]int{}, declared: map[string][]string{}}
}

// each yields the rows of a table.
func (d *database) each(called string) func(yield func(row) bool) {
	return func(yield func(row) bool) {
		t := d.tables[called]
		if t == nil {
			return
		}
		for _, cells := range t.rows {
			if !yield(row{t.at, cells}) {
				return
			}
		}
	}
}

// table is that of a name, made if need be; nil for one that is not kept.
func (d *database) table(called string) *table {
	if t := d.tables[called]; t != nil {
		return t
	}
	columns := wanted(called)
	if len(columns) == 0 {
		return nil
	}
	t := &table{at: map[string]int{}}
	for i, c := range columns {
		t.at[c] = i
	}
	d.tables[called] = t
	return t
}

// add keeps a row of a table: value is what it has of a column.
func (d *database) add(called string, t *table, value func(column string) (string, error)) error {
	if len(t.rows) == mostRows {
		return fmt.Errorf("table %s has more than %d rows: that is more than one station", called, mostRows)
	}
	cells := make([]string, len(t.at))
	for c, i := range t.at {
		v, err := value(c)
		if err != nil {
			return fmt.Errorf("table %s: %s: %w", called, c, err)
		}
		cells[i] = v
		d.bytes += len(v) + 16
	}
	d.bytes += 24 // of the row itself
	if d.bytes > d.most {
		return errors.New("it holds more than 512 MiB of tracks and playlists: that is more than one station")
	}
	t.rows = append(t.rows, cells)
	return nil
}

// readDump reads a dump to its end.
func readDump(r io.Reader) (*database, error) { return newDatabase().read(newScanner(r)) }

func (d *database) read(s *scanner) (*database, error) {
	if head, _ := s.r.Peek(5); string(head) == "PGDMP" {
		return nil, errors.New("it is in PostgreSQL's custom format: make it plain with pg_restore --no-owner -f libretime.sql, and import that")
	}
	for {
		t, err := s.next()
		switch {
		case err != nil:
		case t.kind == atEnd:
			if d.tables["cc_files"] == nil {
				return nil, errors.New("it has no tracks of LibreTime (table cc_files): make it with pg_dump --no-owner --no-privileges libretime")
			}
			return d, nil
		case t.mark(";"):
		case t.mark(`\`): // for psql
			err = s.line()
		case t.is("create"):
			err = d.create(s)
		case t.is("copy"):
			err = d.copy(s)
		case t.is("insert"):
			err = d.insert(s)
		case t.is("set"):
			err = set(s)
		default:
			err = skip(s)
		}
		if err != nil {
			return nil, fmt.Errorf("byte %d: %w", s.at, err)
		}
	}
}

// want returns the next token, which must not be the end.
func (s *scanner) want() (token, error) {
	t, err := s.next()
	if err == nil && t.kind == atEnd {
		err = errCut
	}
	return t, err
}

// skip reads to the end of a statement.
func skip(s *scanner) error {
	s.keep = false
	defer func() { s.keep = true }()
	for {
		if t, err := s.want(); err != nil || t.mark(";") {
			return err
		}
	}
}

// set takes over how strings are written.
func set(s *scanner) error {
	var said []string
	for {
		t, err := s.want()
		if err != nil {
			return err
		}
		if t.mark(";") {
			break
		}
		if len(said) < 4 && !t.mark("=") && !t.is("to") {
			said = append(said, strings.ToLower(t.text))
		}
	}
	if len(said) < 2 {
		return nil
	}
	switch said[0] {
	case "standard_conforming_strings":
		s.backslash = said[1] == "off"
	case "client_encoding":
		if e := strings.NewReplacer("-", "", "_", "").Replace(said[1]); e != "utf8" && e != "unicode" && e != "sqlascii" {
			return fmt.Errorf("it is written in %s: make it with pg_dump --encoding=UTF8", said[1])
		}
	}
	return nil
}

// called reads the name of a table: the last of what may be schema.table. It returns the token
// after it.
func called(s *scanner) (table string, after token, err error) {
	for {
		t, err := s.want()
		if err != nil {
			return "", t, err
		}
		if t.named() && !slices.Contains([]string{"if", "not", "exists", "only", "into"}, t.text) {
			table = t.text
			if t, err = s.want(); err != nil || !t.mark(".") {
				return table, t, err
			}
			continue
		}
		if !t.named() {
			return "", t, nil
		}
	}
}

// create reads the columns of a CREATE TABLE.
func (d *database) create(s *scanner) error {
	t, err := s.want()
	if err != nil || t.mark(";") {
		return err
	}
	if t.is("unlogged") {
		if t, err = s.want(); err != nil {
			return err
		}
	}
	if !t.is("table") {
		return skip(s)
	}
	table, t, err := called(s)
	if err != nil || t.mark(";") {
		return err
	}
	if !t.mark("(") {
		return skip(s)
	}
	columns, err := columnsOf(s)
	if err != nil {
		return err
	}
	if d.table(table) != nil {
		d.declared[table] = columns
	}
	return skip(s)
}

// columnsOf reads what stands between brackets: in CREATE TABLE with types and keys, elsewhere
// names alone.
func columnsOf(s *scanner) (out []string, err error) {
	for depth, begins := 1, true; ; {
		t, err := s.want()
		switch {
		case err != nil:
			return nil, err
		case t.mark("("):
			depth++
		case t.mark(")"):
			if depth--; depth == 0 {
				return out, nil
			}
		case t.mark(",") && depth == 1:
			begins = true
			continue
		case begins && (t.kind == name || t.kind == word && !slices.Contains([]string{"primary", "unique", "constraint", "foreign", "check", "exclude", "like"}, t.text)):
			if out = append(out, t.text); len(out) > mostColumns {
				return nil, errors.New("a table has more than 512 columns")
			}
		}
		begins = false
	}
}

// copy reads a COPY and the lines after it.
func (d *database) copy(s *scanner) error {
	table, t, err := called(s)
	if err != nil {
		return err
	}
	columns := d.declared[table]
	if t.mark("(") {
		if columns, err = columnsOf(s); err != nil {
			return err
		}
	}
	stdin := false
	for !t.mark(";") {
		if t, err = s.want(); err != nil {
			return err
		}
		if t.is("csv") || t.is("binary") {
			return fmt.Errorf("table %s is written as %s: make the dump with pg_dump alone", table, t.text)
		}
		stdin = stdin || t.is("stdin")
	}
	if !stdin {
		return nil
	}
	if err := s.line(); err != nil {
		return err
	}
	kept := d.table(table)
	s.keep = kept != nil
	defer func() { s.keep = true }()
	for {
		line, end, err := s.copied()
		switch {
		case err != nil:
			return fmt.Errorf("table %s: %w", table, err)
		case end:
			return nil
		case counted(table):
			d.counts[table]++
		case kept != nil:
			if err := d.line(table, kept, columns, line); err != nil {
				return err
			}
		}
	}
}

// line keeps a line of COPY.
func (d *database) line(called string, t *table, columns []string, line []byte) error {
	if n := bytes.Count(line, []byte{'\t'}) + 1; n != len(columns) { // before they are split: they may be millions
		return fmt.Errorf("table %s: a row has %d values for %d columns", called, n, len(columns))
	}
	fields := bytes.Split(line, []byte{'\t'})
	return d.add(called, t, func(column string) (string, error) {
		i := slices.Index(columns, column)
		if i < 0 {
			return "", nil
		}
		return field(fields[i])
	})
}

// insert reads the rows of an INSERT.
func (d *database) insert(s *scanner) error {
	table, t, err := called(s)
	if err != nil {
		return err
	}
	kept := d.table(table)
	if kept == nil && !counted(table) {
		if t.mark(";") {
			return nil
		}
		return skip(s)
	}
	columns := d.declared[table]
	if t.mark("(") {
		if columns, err = columnsOf(s); err != nil {
			return err
		}
	}
	for !t.is("values") {
		if t.mark(";") {
			return nil
		}
		if t, err = s.want(); err != nil {
			return err
		}
	}
	s.keep = kept != nil
	defer func() { s.keep = true }()
	for {
		switch t, err = s.want(); {
		case err != nil:
			return err
		case t.mark(";"):
			return nil
		case t.is("on"): // CONFLICT DO NOTHING
			return skip(s)
		case t.mark(","):
			continue
		case !t.mark("("):
			return fmt.Errorf("table %s: %.40q where a row should begin", table, t.text)
		}
		values, err := tuple(s, len(columns))
		if err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
		if kept == nil {
			d.counts[table]++
			continue
		}
		if len(values) != len(columns) {
			return fmt.Errorf("table %s: a row has %d values for %d columns", table, len(values), len(columns))
		}
		if err := d.add(table, kept, func(column string) (string, error) {
			if i := slices.Index(columns, column); i >= 0 {
				return values[i], nil
			}
			return "", nil
		}); err != nil {
			return err
		}
	}
}

// tuple reads one row after its bracket. Of a value that is computed only its first constant
// counts: 'x'::text. It ends at the first value that is too much: a row may be written to be
// larger than all memory.
func tuple(s *scanner, columns int) (out []string, err error) {
	depth, value, known, size := 0, "", false, 0
	for {
		t, err := s.want()
		if err != nil {
			return nil, err
		}
		switch {
		case t.mark("("):
			depth++
		case t.mark(")") && depth > 0:
			depth--
		case t.mark(")"), t.mark(",") && depth == 0:
			if len(out) == columns && s.keep {
				return nil, fmt.Errorf("a row has more than %d values, one for each column", columns)
			}
			if s.keep {
				out = append(out, value)
			}
			if size += len(value); size > mostRow {
				return nil, errors.New("a row has more than 32 MiB")
			}
			if value, known = "", false; t.mark(")") {
				return out, nil
			}
		case t.mark(";"):
			return nil, errors.New("a row is not closed")
		case known || t.kind == mark:
		case t.is("null"), t.is("default"):
			known = true
		case t.kind == text, t.kind == number, t.is("true"), t.is("false"):
			value, known = t.text, true
		}
	}
}
