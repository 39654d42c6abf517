package chat_test

import (
	"fmt"
	"testing"

	"github.com/athir-radio/athir/internal/audience/chat"
)

// Others at its address had used it up: that costs a device nothing.
func TestAWriteRefusedForItsAddressCostsItsDeviceNothing(t *testing.T) {
	h := open(t)
	say := func(from chat.Client) error {
		_, err := h.Say(t.Context(), from, chat.SayIn{User: "x", Text: "x"})
		return err
	}
	var err error
	for n := 0; err == nil; n++ {
		err = say(chat.Client{Address: "192.0.2.9", Device: fmt.Sprintf("device-of-%d", n)})
	}
	limited(t, err, "an address")
	one := chat.Client{Address: "192.0.2.9", Device: "one-device"}
	for range 30 {
		limited(t, say(one), "a device of that address")
	}
	one.Address = "192.0.2.10" // the phone has found another network
	if err := say(one); err != nil {
		t.Errorf("the device itself has written nothing yet: %v", err)
	}
}
