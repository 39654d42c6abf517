package testkit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// DocTable returns the rows of the first table that follows a line of a document, without
// its head and without empty cells at the end.
func DocTable(t *testing.T, path, after string) [][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut("\n"+string(text), "\n"+after+"\n")
	if !found {
		t.Fatalf("%s has no line %q", path, after)
	}
	var rows [][]string
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "|") {
			row := cells(strings.Trim(line, "|"))
			for len(row) > 0 && row[len(row)-1] == "" {
				row = row[:len(row)-1]
			}
			rows = append(rows, row)
		} else if rows != nil {
			break
		}
	}
	if len(rows) < 3 {
		t.Fatalf("%s has no table after %q", path, after)
	}
	return rows[2:]
}

// CommentTable returns the rows of the table in a function's comment, without its head. Its
// cells are apart by bars, or by two spaces and more; a row that begins with an empty cell
// goes on with the one before.
func CommentTable(t *testing.T, path, function string) [][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, d := range file.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || f.Name.Name != function {
			continue
		}
		for line := range strings.Lines(f.Doc.Text()) {
			row := cells(line)
			switch {
			case !strings.HasPrefix(line, "\t") || strings.HasPrefix(row[0], "---"):
			case row[0] == "":
				for i, more := range row {
					last := rows[len(rows)-1]
					last[i] = strings.TrimSpace(last[i] + " " + more)
				}
			default:
				rows = append(rows, row)
			}
		}
	}
	if len(rows) < 2 {
		t.Fatalf("%s has no table in the comment of %s", path, function)
	}
	return rows[1:]
}

var gap = regexp.MustCompile(`\s{2,}`)

func cells(line string) []string {
	if !strings.Contains(line, "|") {
		return gap.Split(strings.TrimSpace(line), -1)
	}
	out := strings.Split(line, "|")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}
