package desk

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
)

// Files at the head of the wall that cannot be decoded are tried again when the others were,
// each in its turn, and more rarely each time.
func TestBrokenCartsKeepNoneBehindThemWaiting(t *testing.T) {
	log, _ := testkit.Log(t)
	d := &Desk{opt: Options{Log: log}}
	for _, name := range []string{"a", "b", "c"} {
		d.carts.wall.Carts = append(d.carts.wall.Carts, live.Cart{File: live.Path(name)})
	}
	now := time.Now()
	fail := func(ago time.Duration) string {
		c := d.nextCart(now)
		if c == nil {
			return ""
		}
		d.keepCart(*c, nil, false, errors.New("hangs"))
		d.carts.clips[keyOf(*c)].tried = now.Add(-ago)
		return string(c.File)
	}
	var order []string
	for _, ago := range []time.Duration{40 * time.Second, 50 * time.Second, 30 * time.Second, 15 * time.Second, 15 * time.Second, 15 * time.Second, 0} {
		order = append(order, fail(ago))
	}
	if got, want := fmt.Sprint(order), "[a b c b a c ]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What is in hand and the beginnings of what is not are within the bound.
func TestACartIsInHandWholeWhereTheBeginningsOfTheOthersHaveRoomToo(t *testing.T) {
	const second = live.Rate * live.Channels
	d := &Desk{opt: Options{CartBytes: 2 * 15 * second}}
	for i, ms := range []int64{10_000, 0, 30_000, 1000} {
		d.carts.wall.Carts = append(d.carts.wall.Carts, live.Cart{File: live.Path(rune('a' + i)), DurationMS: ms})
	}
	w := d.carts.wall.Carts
	if !d.room(w[0]) || d.room(w[1]) || d.room(w[2]) {
		t.Errorf("%v, %v, %v: ten seconds of fifteen have room with 5 of beginnings, a minute and 30 s have not", d.room(w[0]), d.room(w[1]), d.room(w[2]))
	}
	d.keepCart(w[0], make([]int16, 10*second), true, nil)
	d.keepCart(w[1], make([]int16, 2*second), false, nil)
	if d.carts.held != 2*12*second {
		t.Errorf("%d bytes held, beginnings are not counted", d.carts.held)
	}
	if !d.room(w[3]) {
		t.Error("no room for the last second")
	}
	d.keepCart(w[2], make([]int16, 2*second), false, nil)
	d.keepCart(w[1], nil, false, errors.New("gone"))
	d.dropCarts()
	if d.carts.held != 2*12*second {
		t.Errorf("%d bytes held after one was lost", d.carts.held)
	}
}
