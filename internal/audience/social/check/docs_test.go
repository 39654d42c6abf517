package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

const manual = "../../../../docs/submissions.md"

func TestTheManualsLimitsAreThoseOfTheCode(t *testing.T) {
	want := [][]string{
		{"file", fmt.Sprintf("%d MB", MostBytes>>20)},
		{"silence at the ends, together", fmt.Sprintf("%.0f s", AtEnds.Seconds())},
		{"tags and pictures", fmt.Sprintf("%d MB", mostTags>>20)},
		{"time for a look", fmt.Sprintf("%.0f s", Within.Seconds())},
		{"silence between the first and the last sound", fmt.Sprintf("%.0f %%", mostSilent*100)},
		{"samples in runs at full scale", fmt.Sprintf("%.0f %%", mostClipped*100)},
		{"title, characters", strconv.Itoa(LongestTitle)}, {"artist, characters", strconv.Itoa(LongestArtist)},
		{"description, characters", strconv.Itoa(LongestDescription)}, {"tag, characters", strconv.Itoa(LongestTag)},
		{"tags", strconv.Itoa(MostTags)}, {"sender's name, characters", strconv.Itoa(LongestBy)},
	}
	if got := testkit.DocTable(t, manual, "## Limits"); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the manual has\n%q\nthe code\n%q", got, want)
	}
}

func TestTheManualHasEveryNote(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "structure.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 && len(v.Names[0].Name) > 4 && v.Names[0].Name[:4] == "Note" {
			text, _ := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			want = append(want, "`"+text+"`")
		}
		return true
	})
	var got []string
	for _, row := range testkit.DocTable(t, manual, "## Notes for moderators") {
		got = append(got, row[0])
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) < 10 || !slices.Equal(got, want) {
		t.Errorf("the manual has %q, the code %q", got, want)
	}
}
