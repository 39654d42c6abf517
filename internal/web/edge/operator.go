package edge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
)

// operatorEvent asks what a key lets its holder do. It is in no table: clients
// cannot send it.
const operatorEvent = "operator"

type operatorAsk struct {
	Key     string `json:"key"`
	Foreign bool   `json:"foreign,omitempty"`
}

type operatorAnswer struct {
	Staff bool `json:"staff"`
	// Speaks is missing in answers of an older station, where whoever was staff might
	// do all.
	Speaks *bool `json:"speaks"`
}

// operatorWait bounds how long a client with a key waits to be let in.
const operatorWait = 5 * time.Second

// AskOperator is an Options.Staff that asks the station: an edge does not know its key.
func AskOperator(ctx context.Context, desk Desk) func(key, address string, foreign bool) (writes, speaks bool, err error) {
	return func(key, address string, foreign bool) (writes, speaks bool, err error) {
		body, err := json.Marshal(operatorAsk{key, foreign})
		if err != nil {
			return false, false, err
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
			return false, false, errors.New(cmp.Or(got.Error.Detail, "the station does not answer"))
		}
		speaks = got.Staff
		if got.Speaks != nil {
			speaks = *got.Speaks
		}
		return got.Staff, speaks, nil
	}
}
