package edge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
)

// operatorEvent asks whether a key is the station's. It is in no table: clients
// cannot send it.
const operatorEvent = "operator"

type operatorAsk struct {
	Key     string `json:"key"`
	Foreign bool   `json:"foreign,omitempty"`
}

type operatorAnswer struct {
	Staff bool `json:"staff"`
}

// operatorWait bounds how long a client with a key waits to be let in.
const operatorWait = 5 * time.Second

// AskOperator is an Options.Staff that asks the station: an edge does not know its key.
func AskOperator(ctx context.Context, desk Desk) func(key, address string, foreign bool) (bool, error) {
	return func(key, address string, foreign bool) (bool, error) {
		body, err := json.Marshal(operatorAsk{key, foreign})
		if err != nil {
			return false, err
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
			return false, errors.New(cmp.Or(got.Error.Detail, "the station does not answer"))
		}
		return got.Staff, nil
	}
}
