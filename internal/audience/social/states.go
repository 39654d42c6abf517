package social

import (
	"fmt"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/station"
)

// Status is where a post stands.
//
//	processing  waits for the worker, or is with it
//	pending     mastered; waits for its moderator. Its reason is empty, held or reported
//	approved    airs by the overlay, and everybody may hear it
//	rejected    will not air; its reason says why: withdrawn, found by the machine, or chosen by a moderator
//	failed      the station could not process it, which is not the post's fault: it is tried again
type Status string

// The statuses.
const (
	Processing Status = "processing"
	Pending    Status = "pending"
	Approved   Status = "approved"
	Rejected   Status = "rejected"
	Failed     Status = "failed"
)

// Statuses returns all statuses.
func Statuses() []Status { return []Status{Pending, Processing, Approved, Rejected, Failed} }

// Op is an operation on a post.
type Op string

// The operations: of the worker, of moderators, of the submitter, of listeners.
const (
	OpPass   Op = "pass"
	OpRefuse Op = "refuse"
	OpFault  Op = "fault"
	OpRetry  Op = "retry"

	OpApprove Op = "approve"
	OpReject  Op = "reject"
	OpHold    Op = "hold"
	OpReview  Op = "review"
	OpProcess Op = "process"

	OpVoted Op = "voted" // of the rule of that name

	OpWithdraw Op = "withdraw"
	OpReport   Op = "report"
)

// standing is the part of a post that decides what may be done to it.
type standing struct {
	status   Status
	reason   refusal.Code
	mastered bool
	// candidate says that it is put to listeners' vote: see Social.Candidate.
	candidate bool
}

// next returns the status after an operation. Errors wrap station.ErrConflict and say what
// is in the way.
//
// In the table, a dash is a refusal (station.ErrConflict); "="
// changes nothing and succeeds, so that every operation may be repeated.
//
//	operation  processing  pending     approved    rejected    failed
//	pass       pending     -           -           -           -
//	refuse     rejected    -           -           -           -
//	fault      failed      -           -           -           -
//	retry      =           -           -           -           processing
//	approve    -           approved    =           approved    -
//	reject     rejected    rejected    rejected    rejected    rejected
//	hold       -           pending     pending     pending     -
//	review     -           pending     pending     pending     -
//	process    =           processing  processing  processing  processing
//	withdraw   rejected    rejected    rejected    rejected    rejected
//	report     -           pending     pending     -           -
//	voted      -           approved    =           -           -
//
// Of pending posts, voted approves candidates alone, and report changes no others.
// A rejected post can be approved, held or reviewed only while its mastered file exists,
// and nothing but withdraw is done to one that was withdrawn.
func next(now standing, op Op) (Status, error) {
	if now.reason == refusal.Withdrawn && now.status == Rejected && op != OpWithdraw {
		return "", conflict("its submitter has withdrawn it")
	}
	switch op {
	case OpReject, OpWithdraw:
		return Rejected, nil
	case OpProcess:
		return Processing, nil
	case OpPass, OpRefuse, OpFault:
		if now.status != Processing {
			return "", conflict("it is %s, not processing", now.status)
		}
		return map[Op]Status{OpPass: Pending, OpRefuse: Rejected, OpFault: Failed}[op], nil
	case OpRetry:
		if now.status != Failed && now.status != Processing {
			return "", conflict("it is %s, not failed", now.status)
		}
		return Processing, nil
	case OpReport:
		if now.status != Approved && now.status != Pending {
			return "", conflict("it is not on the air")
		}
		return Pending, nil
	case OpVoted:
		if now.status != Approved && !(now.status == Pending && now.candidate) {
			return "", conflict("it is not put to the vote")
		}
		return Approved, nil
	case OpApprove, OpHold, OpReview:
		return judged(now, op)
	}
	return "", fmt.Errorf("operation %q: %w", op, station.ErrInvalid)
}

// judged is next for a moderator's verdicts, which need a file to be heard.
func judged(now standing, op Op) (Status, error) {
	switch {
	case now.status == Processing:
		return "", conflict("it is being processed: wait until it is done")
	case now.status == Failed:
		return "", conflict("processing has failed: process it again first")
	case !now.mastered:
		return "", conflict("it has no mastered file: process it first")
	case op == OpApprove:
		return Approved, nil
	}
	return Pending, nil
}

func conflict(format string, args ...any) error {
	return fmt.Errorf("the post cannot be changed so: "+format+": %w", append(args, station.ErrConflict)...)
}
