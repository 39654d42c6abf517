package onbackup_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// version is a slice's tables at one moment of their history.
type version struct {
	slice  string
	number int64
}

// dump is the text of its tables with rows in them, as they were then.
func (v version) dump() string {
	return filepath.Join("testdata", "schema", fmt.Sprintf("%s-%d.sql", v.slice, v.number))
}

// states are the steps of the history.
func states(t *testing.T) (out [][]version) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "history.txt"))
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var step []version
		for _, field := range strings.Fields(line) {
			slice, number, _ := strings.Cut(field, "=")
			n, err := strconv.ParseInt(number, 10, 64)
			must(t, err)
			step = append(step, version{slice, n})
		}
		out = append(out, step)
	}
	return out
}

// writeEnv has the test write the dumps that are missing, from the migrations.
const writeEnv = "ATHIR_WRITE_DUMPS"

// What was once released is not changed: the migrations up to each version still lead to the
// tables that they led to then. With ATHIR_WRITE_DUMPS=1 it writes the dump of a new one.
func TestReleasedMigrationsAreNotChanged(t *testing.T) {
	newest := map[string]int64{}
	for _, step := range states(t) {
		for _, v := range step {
			newest[v.slice] = v.number
			got := made(t, v)
			want, err := os.ReadFile(v.dump())
			if errors.Is(err, fs.ErrNotExist) && os.Getenv(writeEnv) != "" {
				must(t, os.WriteFile(v.dump(), []byte(got), 0o600))
				continue
			}
			if err != nil || got != string(want) {
				t.Errorf("%s: the migrations lead elsewhere than they did (%v): add one, and change none", v.dump(), err)
			}
		}
	}
	for _, s := range onbackup.Schemas() {
		if n, err := s.Newest(); err != nil || newest[s.Slice] != n {
			t.Errorf("%s is at version %d (%v), and testdata/history.txt ends with %d: add a line, and write its dump with %s=1", s.Slice, n, err, newest[s.Slice], writeEnv)
		}
	}
}

// Every state that a database may be in opens with this program, and keeps its rows.
func TestEveryStateOfTheHistoryIsMigrated(t *testing.T) {
	have := map[string]int64{}
	for i, step := range states(t) {
		for _, v := range step {
			have[v.slice] = v.number
		}
		name := fmt.Sprintf("%02d %s=%d", i+1, step[0].slice, step[0].number)
		at := maps.Clone(have)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			migrates(t, at)
		})
	}
}

func migrates(t *testing.T, at map[string]int64) {
	cfg := station(t)
	must(t, os.Remove(cfg.Database()))
	before := rebuild(t, cfg.Database(), at)
	db, err := store.Open(t.Context(), cfg.Database())
	must(t, err)
	log, _ := testkit.Log(t)
	must(t, onbackup.CopyFirst(t.Context(), cfg, log, "test", db))
	old := false
	for _, s := range onbackup.Schemas() {
		newest, err := s.Newest()
		must(t, errors.Join(err, db.Upgrade(t.Context(), s)))
		old = old || at[s.Slice] > 0 && at[s.Slice] < newest
	}
	must(t, db.Close())
	versions, err := store.Check(t.Context(), cfg.Database())
	if err != nil || len(versions) != len(onbackup.Schemas()) {
		t.Errorf("after the migration: %v, %v", versions, err)
	}
	raw, err := sql.Open("sqlite", cfg.Database())
	must(t, err)
	defer raw.Close() //nolint:errcheck // only read
	for table, was := range before {
		if now := rows(t, raw, table, was.columns); !slices.Equal(now, was.rows) {
			t.Errorf("%s held %v, and now %v", table, was.rows, now)
		}
	}
	if list, err := onbackup.List(cfg); err != nil || len(list) == 0 == old {
		t.Errorf("copies of the database: %v, %v", list, err)
	}
}

// kept is what a table held.
type kept struct{ columns, rows []string }

// rebuild makes a database of the dumps, and returns what is in it.
func rebuild(t *testing.T, path string, at map[string]int64) map[string]kept {
	t.Helper()
	raw, err := sql.Open("sqlite", path)
	must(t, err)
	defer raw.Close() //nolint:errcheck // closed below, where it matters
	text := "BEGIN;\n"
	for _, slice := range slices.Sorted(maps.Keys(at)) {
		dump, err := os.ReadFile(version{slice, at[slice]}.dump())
		must(t, err)
		text += string(dump)
	}
	_, err = raw.Exec(text + "COMMIT;")
	must(t, err)
	out := map[string]kept{}
	for _, table := range strs(t, raw, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'migrations_%'`) {
		columns := strs(t, raw, `SELECT name FROM pragma_table_info('`+table+`')`)
		out[table] = kept{columns, rows(t, raw, table, columns)}
		if len(out[table].rows) == 0 {
			t.Errorf("%s is empty, and shows nothing", table)
		}
	}
	must(t, raw.Close())
	return out
}

// made migrates a new database to a version, puts rows into every table, and dumps it.
func made(t *testing.T, v version) string {
	t.Helper()
	i := slices.IndexFunc(onbackup.Schemas(), func(s store.Schema) bool { return s.Slice == v.slice })
	if i < 0 {
		t.Fatalf("there is no slice %s", v.slice)
	}
	path := filepath.Join(t.TempDir(), "athir.db")
	db, err := store.Open(t.Context(), path)
	must(t, err)
	must(t, db.Migrate(t.Context(), v.slice, until(t, onbackup.Schemas()[i].Files, v.number)))
	must(t, db.Close())
	raw, err := sql.Open("sqlite", path)
	must(t, err)
	defer raw.Close() //nolint:errcheck // a test's own
	own := "migrations_" + v.slice
	tables := strs(t, raw, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid`)
	tx, err := raw.Begin()
	must(t, err)
	_, err = tx.Exec(`UPDATE ` + own + ` SET tstamp = '2026-11-21 12:00:00'`)
	must(t, err)
	for _, table := range tables {
		if table != own {
			must(t, fill(tx, table))
		}
	}
	must(t, tx.Commit())
	var out strings.Builder
	for _, statement := range strs(t, raw, `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid`) {
		fmt.Fprintf(&out, "%s;\n", statement)
	}
	for _, table := range tables {
		for _, row := range rows(t, raw, table, strs(t, raw, `SELECT name FROM pragma_table_info('`+table+`')`)) {
			fmt.Fprintf(&out, "INSERT OR REPLACE INTO %s VALUES (%s);\n", table, row)
		}
	}
	return out.String()
}

// until are the migrations up to a version.
func until(t *testing.T, files fs.FS, number int64) fs.FS {
	t.Helper()
	out := fstest.MapFS{}
	names, err := fs.Glob(files, "*.sql")
	must(t, err)
	for _, name := range names {
		n, _, _ := strings.Cut(name, "_")
		if at, err := strconv.ParseInt(n, 10, 64); err == nil && at <= number {
			text, err := fs.ReadFile(files, name)
			must(t, err)
			out[name] = &fstest.MapFile{Data: text}
		}
	}
	return out
}

// fill puts two rows into a table, or one where no more are allowed. Values of one type are
// the same in all tables, so that they refer to each other.
func fill(tx *sql.Tx, table string) error {
	var schema string
	if err := tx.QueryRow(`SELECT sql FROM sqlite_schema WHERE name = ?`, table).Scan(&schema); err != nil {
		return err
	}
	columns, err := tx.Query(`SELECT name, type FROM pragma_table_info(?)`, table)
	if err != nil {
		return err
	}
	defer columns.Close() //nolint:errcheck // its error is looked at
	var first, second []string
	for columns.Next() {
		var name, kind string
		if err := columns.Scan(&name, &kind); err != nil {
			return err
		}
		one, two := values(schema, name, kind)
		first, second = append(first, one), append(second, two)
	}
	if err := columns.Err(); err != nil {
		return err
	}
	// The first takes the place of what a migration put there by chance; where only one row
	// may be, the second is left out.
	for or, row := range map[string][]string{"REPLACE": first, "IGNORE": second} {
		if _, err := tx.Exec(`INSERT OR ` + or + ` INTO ` + table + ` VALUES (` + strings.Join(row, ", ") + `)`); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}

// values are those of a column in two rows; of a column that takes only some, the first two.
func values(schema, column, kind string) (one, two string) {
	if m := regexp.MustCompile(`\b` + column + `\s[^,\n]*CHECK \(` + column + ` IN \(([^)]*)\)`).FindStringSubmatch(schema); m != nil {
		allowed := strings.Split(m[1], ",")
		return allowed[0], allowed[1]
	}
	switch kind {
	case "INTEGER":
		return "1", "2"
	case "REAL":
		return "1.5", "2.5"
	case "BLOB":
		return "x'01ff'", "x'02ff'"
	}
	return `'"أثير 1"'`, `'"أثير 2"'`
}

// rows are a table's, each written as SQL, in order.
func rows(t *testing.T, db *sql.DB, table string, columns []string) []string {
	t.Helper()
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = `quote("` + c + `")`
	}
	out := strs(t, db, `SELECT `+strings.Join(quoted, ` || ', ' || `)+` FROM `+table)
	slices.Sort(out)
	return out
}

func strs(t *testing.T, db *sql.DB, query string) (out []string) {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), query)
	must(t, err)
	defer rows.Close() //nolint:errcheck // its error is looked at
	for rows.Next() {
		var s string
		must(t, rows.Scan(&s))
		out = append(out, s)
	}
	must(t, rows.Err())
	return out
}
