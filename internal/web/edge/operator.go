package edge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/athir-radio/athir/internal/people"
)

// operatorEvent asks what a key lets its holder do. It is in no table: clients
// cannot send it.
const operatorEvent = "operator"

type operatorAsk struct {
	Key     string `json:"key"`
	Foreign bool   `json:"foreign,omitempty"`
}

type operatorAnswer struct {
	// Staff may do both: an edge of an older version looks at nothing else.
	Staff  bool   `json:"staff"`
	Writes *bool  `json:"writes"` // missing in answers of an older station, where Staff says it
	Speaks *bool  `json:"speaks"`
	Of     string `json:"of,omitempty"`
}

func answerOf(who people.Caller) operatorAnswer {
	writes, speaks := who.Rights.Has(people.Moderate), who.Rights.Has(people.Air)
	return operatorAnswer{writes && speaks, &writes, &speaks, who.Of}
}

func (a operatorAnswer) caller() people.Caller {
	out := people.Caller{Of: a.Of}
	if a.Writes != nil && *a.Writes || a.Writes == nil && a.Staff {
		out.Rights |= people.Moderate
	}
	if a.Speaks != nil && *a.Speaks || a.Speaks == nil && a.Staff {
		out.Rights |= people.Air
	}
	return out
}

// operatorWait bounds how long a client with a key waits to be let in.
const operatorWait = 5 * time.Second

// AskOperator is an Options.Staff that asks the station: an edge does not know its key.
func AskOperator(ctx context.Context, desk Desk) func(key, address string, foreign bool) (people.Caller, error) {
	return func(key, address string, foreign bool) (people.Caller, error) {
		body, err := json.Marshal(operatorAsk{key, foreign})
		if err != nil {
			return people.Caller{}, err
		}
		ctx, cancel := context.WithTimeout(ctx, operatorWait)
		defer cancel()
		var got struct {
			operatorAnswer
			OK    bool `json:"ok"`
			Error struct {
				Detail string `json:"detail"`
			} `json:"error"`
		}
		answer := desk.Do(ctx, Ask{Event: operatorEvent, From: Client{Address: address}, Body: body})
		if err := json.Unmarshal(answer, &got); err != nil || !got.OK {
			return people.Caller{}, errors.New(cmp.Or(got.Error.Detail, "the station does not answer"))
		}
		return got.caller(), nil
	}
}
