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
	Key string `json:"key"`
}

type operatorAnswer struct {
	Staff bool `json:"staff"`
}

// operatorWait bounds how long a client with a key waits to be let in.
const operatorWait = 5 * time.Second

// AskOperator asks the station whether a key is its own: an edge does not know it.
func AskOperator(ctx context.Context, desk Desk, key, address string) (bool, error) {
	body, err := json.Marshal(operatorAsk{key})
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
