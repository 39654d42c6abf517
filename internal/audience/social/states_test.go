package social

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

// The table in the comment of next is the specification; the manual has it too.
func TestEveryOperationDoesWhatTheTableSays(t *testing.T) {
	rows := testkit.CommentTable(t, "states.go", "next")
	if manual := testkit.DocTable(t, "../../../docs/social.md", "that was cut short is done again."); !slices.EqualFunc(rows, manual, slices.Equal) {
		t.Errorf("the manual has\n%v\nthe code\n%v", manual, rows)
	}
	seen := map[Op]bool{}
	columns := []Status{Processing, Pending, Approved, Rejected, Failed}
	for _, row := range rows {
		if len(row) != 6 {
			t.Fatalf("%q is no row of an operation and five statuses", row)
		}
		op := Op(row[0])
		seen[op] = true
		for i, was := range columns {
			got, err := next(standing{status: was, mastered: was != Processing && was != Failed, candidate: was == Pending}, op)
			want := Status(row[i+1])
			switch {
			case want == "-":
				if !errors.Is(err, station.ErrConflict) {
					t.Errorf("%s of a post that is %s: %q, %v; want a conflict", op, was, got, err)
				}
				continue
			case want == "=":
				want = was
			}
			if got != want || err != nil {
				t.Errorf("%s of a post that is %s: %q, %v; want %s", op, was, got, err, want)
			}
		}
	}
	for _, op := range []Op{OpPass, OpRefuse, OpFault, OpRetry, OpApprove, OpReject, OpHold, OpReview, OpProcess, OpWithdraw, OpReport, OpVoted} {
		if !seen[op] {
			t.Errorf("the table does not have %s", op)
		}
	}
}

func TestWhatWasWithdrawnStaysWithdrawnAndWhatHasNoFileIsNotApproved(t *testing.T) {
	gone := standing{status: Rejected, reason: refusal.Withdrawn, mastered: true}
	for _, op := range []Op{OpApprove, OpReject, OpHold, OpReview, OpProcess, OpReport} {
		if _, err := next(gone, op); !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "withdrawn") {
			t.Errorf("%s of a withdrawn post: %v", op, err)
		}
	}
	for _, op := range []Op{OpApprove, OpHold, OpReview} {
		if _, err := next(standing{status: Rejected, reason: refusal.TooLong}, op); !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "process it first") {
			t.Errorf("%s of a post without a file: %v", op, err)
		}
	}
}

// The windows and categories of the manual are those of the code.
func TestTheManualHasTheTypes(t *testing.T) {
	rows := testkit.DocTable(t, "../../../docs/social.md", "## The way of a post")
	if len(rows) != len(Types()) {
		t.Fatalf("the manual has %d types, the code %d", len(rows), len(Types()))
	}
	for i, typ := range Types() {
		shortest, longest := typ.Window()
		want := []string{"`" + string(typ) + "`", fmt.Sprintf("%g to %g s", shortest.Seconds(), longest.Seconds()), "`" + string(typ.Category()) + "`"}
		if !slices.Equal(rows[i], want) {
			t.Errorf("the manual has %q, the code %q", rows[i], want)
		}
	}
}
