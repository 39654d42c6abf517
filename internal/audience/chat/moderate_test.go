package chat_test

import (
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/audience/chat/words"
	"github.com/athir-radio/athir/internal/station"
)

var operator = chat.By{Address: "203.0.113.1"}

func (h *house) trySay(t testing.TB, from chat.Client, text string) error {
	t.Helper()
	_, err := h.Say(t.Context(), from, chat.SayIn{User: "سلمى", Room: "main", Text: text})
	return err
}

func TestWhoIsMutedOrBannedIsKnownByItsMessage(t *testing.T) {
	h := open(t)
	bad, neighbour := listener(1), chat.Client{Address: listener(1).Address, Device: "neighbour-1"}
	m := h.say(t, bad, "مزعج")
	s, err := h.Mute(t.Context(), operator, chat.SanctionIn{Of: m.ID, Minutes: 10, Reason: "إزعاج"})
	if err != nil || s.Kind != "mute" || s.Name != "سلمى" || !slices.Equal(s.By, []string{"device"}) || s.Until != s.At+600_000 {
		t.Fatalf("%+v %v", s, err)
	}
	check := func(what string) {
		t.Helper()
		err := h.trySay(t, bad, "again")
		is(t, err, station.ErrForbidden, what)
		if err != nil && !strings.Contains(err.Error(), "إزعاج") {
			t.Errorf("%s: the reason is not told: %v", what, err)
		}
		_, err = h.Comment(t.Context(), bad, chat.CommentIn{Name: "x", Text: "x"})
		is(t, err, station.ErrForbidden, what+", a comment")
		_, err = h.React(t.Context(), bad, chat.ReactIn{MsgID: m.ID, Emoji: "👍"})
		is(t, err, station.ErrForbidden, what+", a reaction")
	}
	check("muted")
	if _, err := h.Join(t.Context(), bad, chat.JoinIn{Name: "x", Room: "main"}); err != nil {
		t.Errorf("a muted one may read: %v", err)
	}
	if err := h.trySay(t, neighbour, "I share its address"); err != nil {
		t.Error(err)
	}
	h.reopen(t)
	check("muted, after a restart")
	h.pass(11 * time.Minute)
	if err := h.trySay(t, bad, "back"); err != nil {
		t.Errorf("after the time: %v", err)
	}
	if n := len(h.Sanctions()); n != 0 {
		t.Errorf("%d sanctions hold", n)
	}

	// For good, by the address as well, after the message is deleted.
	if err := h.Delete(t.Context(), operator, m.ID); err != nil {
		t.Fatal(err)
	}
	s, err = h.Ban(t.Context(), operator, chat.SanctionIn{Of: m.ID, Address: true, Reason: "إزعاج"})
	if err != nil {
		t.Fatal(err)
	}
	h.pass(365 * 24 * time.Hour)
	for _, who := range []chat.Client{bad, neighbour, {Address: bad.Address}, {Address: "192.0.2.200", Device: bad.Device}} {
		is(t, h.trySay(t, who, "x"), station.ErrForbidden, fmt.Sprint("banned ", who))
		_, err := h.Join(t.Context(), who, chat.JoinIn{Name: "x", Room: "main"})
		is(t, err, station.ErrForbidden, fmt.Sprint("banned, joins ", who))
	}
	if err := h.trySay(t, listener(2), "x"); err != nil {
		t.Error(err)
	}
	if _, err := h.Lift(t.Context(), operator, s.ID); err != nil {
		t.Fatal(err)
	}
	if err := h.trySay(t, bad, "x"); err != nil {
		t.Errorf("after it was lifted: %v", err)
	}
	_, err = h.Lift(t.Context(), operator, s.ID)
	is(t, err, station.ErrNotFound, "lifted twice")

	// Of whom nothing is known nobody can be meant, nor the staff.
	local := h.say(t, chat.Client{}, "from this machine")
	desk := h.say(t, staff, "from the desk")
	for _, of := range []string{local.ID, desk.ID} {
		_, err := h.Mute(t.Context(), operator, chat.SanctionIn{Of: of})
		is(t, err, station.ErrConflict, of)
	}
	for of, kind := range map[string]error{"m9999": station.ErrNotFound, "c1": station.ErrNotFound, "": station.ErrInvalid, "m": station.ErrInvalid, "m1; DROP TABLE": station.ErrInvalid} {
		_, err := h.Mute(t.Context(), operator, chat.SanctionIn{Of: of})
		is(t, err, kind, of)
	}
	if err := h.trySay(t, chat.Client{}, "x"); err != nil {
		t.Errorf("this machine: %v", err)
	}
}

func TestWhoIsMutedInTheShadowsSeesNoDifference(t *testing.T) {
	h := open(t)
	bad := listener(1)
	m := h.say(t, bad, "أول")
	if _, err := h.Mute(t.Context(), operator, chat.SanctionIn{Of: m.ID, Shadow: true}); err != nil {
		t.Fatal(err)
	}
	before := len(h.heard("message"))
	ghost := h.say(t, bad, "شبح")
	if ghost.ID == "" || len(h.heard("message")) != before {
		t.Errorf("%+v; told %d", ghost, len(h.heard("message"))-before)
	}
	if got := h.texts(t, bad); !slices.Contains(got, "شبح") {
		t.Errorf("it does not see itself: %v", got)
	}
	if got := h.texts(t, listener(2)); slices.Contains(got, "شبح") {
		t.Errorf("others see it: %v", got)
	}
	if all, err := h.Messages(t.Context(), "main", "", 50); err != nil || len(all) != 1 {
		t.Errorf("everybody can read %v", all)
	}
	if missed, err := h.Since(t.Context(), "message", "m0"); err != nil || len(missed) != 1 {
		t.Errorf("edges are given %v", missed)
	}
	if out, err := h.React(t.Context(), bad, chat.ReactIn{MsgID: m.ID, Emoji: "👍"}); err != nil || out.Counts["👍"] != 1 || len(h.heard("message_reaction")) != 0 {
		t.Errorf("%v %v", out, err)
	}
	if out, err := h.React(t.Context(), bad, chat.ReactIn{MsgID: ghost.ID, Emoji: "👍"}); err != nil || out.Counts["👍"] != 1 {
		t.Errorf("to its own: %v %v", out, err)
	}
	_, err := h.React(t.Context(), listener(2), chat.ReactIn{MsgID: ghost.ID, Emoji: "👍"})
	is(t, err, station.ErrNotFound, "others, to what they cannot see")
	if found, err := h.Search(t.Context(), chat.SearchIn{Text: "شبح"}); err != nil || len(found) != 1 || found[0].State != "hidden" {
		t.Errorf("the operator sees %+v %v", found, err)
	}
}

func TestWordListLinksSlowModeAndClosedRooms(t *testing.T) {
	h := open(t)
	if err := h.PutWords(t.Context(), operator, []words.Word{{Word: "كلب", Action: "block"}, {Word: "يا ساتر", Action: "star"}, {Word: "badger", Action: "block", Stem: true}}); err != nil {
		t.Fatal(err)
	}
	is(t, h.PutWords(t.Context(), operator, []words.Word{{Word: "!", Action: "block"}}), station.ErrInvalid, "a word without letters")
	h.reopen(t)
	if n := len(h.Words()); n != 3 {
		t.Fatalf("%d words", n)
	}
	for _, text := range []string{"كَـلـب", "ك ل ب", "honeybаdgers"} {
		is(t, h.trySay(t, listener(1), text), station.ErrInvalid, text)
		_, err := h.Comment(t.Context(), listener(1), chat.CommentIn{Name: text, Text: "x"})
		is(t, err, station.ErrInvalid, "a name: "+text)
		h.pass(time.Minute)
	}
	if m := h.say(t, listener(1), "يا ساتر!"); m.Text != "** ****!" {
		t.Errorf("%q", m.Text)
	}
	if m := h.say(t, staff, "كلب"); m.Text != "كلب" {
		t.Errorf("the staff: %q", m.Text)
	}

	yes, no, ten, zero := true, false, 10, 0
	state, err := h.PutRoom(t.Context(), operator, "main", chat.RoomIn{Links: &no, Slow: &ten})
	if err != nil || state != (chat.State{Room: "main", Slow: 10}) {
		t.Fatalf("%+v %v", state, err)
	}
	if told := h.heard("chat_state"); len(told) != 1 || told[0] != `{"room":"main","slow":10,"closed":false,"links":false}` {
		t.Errorf("%v", told)
	}
	h.reopen(t)
	is(t, h.trySay(t, listener(3), "زوروا example.com"), station.ErrInvalid, "a link")
	if _, err := h.Comment(t.Context(), listener(3), chat.CommentIn{Name: "x", Text: "example.com"}); err != nil {
		t.Errorf("links are on among the comments: %v", err)
	}
	h.say(t, listener(3), "أول")
	if limit := limited(t, h.trySay(t, listener(3), "ثان"), "the second at once"); limit.Seconds() != 10 {
		t.Errorf("come back in %d s", limit.Seconds())
	}
	if err := h.trySay(t, listener(4), "غيره"); err != nil {
		t.Errorf("another: %v", err)
	}
	h.pass(10 * time.Second)
	h.say(t, listener(3), "ثان")

	if _, err := h.PutRoom(t.Context(), operator, "main", chat.RoomIn{Closed: &yes, Slow: &zero}); err != nil {
		t.Fatal(err)
	}
	is(t, h.trySay(t, listener(5), "x"), station.ErrForbidden, "a closed room")
	h.say(t, staff, "نعود غدا")
	if _, err := h.PutRoom(t.Context(), operator, chat.Comments, chat.RoomIn{Closed: &yes}); err != nil {
		t.Fatal(err)
	}
	_, err = h.Comment(t.Context(), listener(5), chat.CommentIn{Name: "x", Text: "x"})
	is(t, err, station.ErrForbidden, "closed comments")
	for _, room := range []string{"", "nowhere", "Main"} {
		_, err := h.PutRoom(t.Context(), operator, room, chat.RoomIn{})
		is(t, err, station.ErrNotFound, room)
	}
}

// What is hidden is shown to the device that wrote it, not to all of its
// mobile network.
func TestNeighboursOfWhoIsMutedInTheShadowsSeeNothing(t *testing.T) {
	h := open(t)
	bad := listener(1)
	neighbour := chat.Client{Address: bad.Address, Device: "a-neighbour"}
	m := h.say(t, bad, "أول")
	if _, err := h.Mute(t.Context(), operator, chat.SanctionIn{Of: m.ID, Shadow: true, Address: true}); err != nil {
		t.Fatal(err)
	}
	h.say(t, bad, "شبح")
	h.say(t, chat.Client{Address: bad.Address}, "شبح بلا جهاز")
	if got := h.texts(t, neighbour); slices.Contains(got, "شبح") || !slices.Contains(got, "شبح بلا جهاز") {
		t.Errorf("a neighbour sees %v", got)
	}
	if got := h.texts(t, bad); !slices.Contains(got, "شبح") {
		t.Errorf("its author sees %v", got)
	}
}

func TestLinksInNamesAreOffWhereLinksAre(t *testing.T) {
	h := open(t)
	no := false
	if _, err := h.PutRoom(t.Context(), operator, "main", chat.RoomIn{Links: &no}); err != nil {
		t.Fatal(err)
	}
	_, err := h.Join(t.Context(), listener(1), chat.JoinIn{Name: "bit.ly/x", Room: "main"})
	is(t, err, station.ErrInvalid, "the station welcomes a link")
	_, err = h.Say(t.Context(), listener(1), chat.SayIn{User: "زوروا example.com", Room: "main", Text: "x"})
	is(t, err, station.ErrInvalid, "a link as a name")
	if _, err := h.Join(t.Context(), listener(1), chat.JoinIn{Name: "bit.ly/x", Room: "cairo"}); err != nil {
		t.Errorf("links are on in another room: %v", err)
	}
}

// A device is whatever a client says it is.
func TestSlowModeHoldsForDevicesMadeUpAndWastesNothingOnWhoWaits(t *testing.T) {
	h := open(t)
	minute := 60
	if _, err := h.PutRoom(t.Context(), operator, "main", chat.RoomIn{Slow: &minute}); err != nil {
		t.Fatal(err)
	}
	of := func(n int) chat.Client {
		return chat.Client{Address: "192.0.2.9", Device: fmt.Sprintf("made-up-%d", n)}
	}
	said := 0
	var err error
	for n := 0; n < 60 && err == nil; n++ {
		if err = h.trySay(t, of(n), "x"); err == nil {
			said++
		}
		h.pass(time.Second)
	}
	if limit := limited(t, err, "one address"); said != 10 || limit.Seconds() != 50 {
		t.Errorf("%d messages in a minute, then come back in %d s", said, limit.Seconds())
	}
	_, err = h.Say(t.Context(), of(99), chat.SayIn{User: "x", Room: "main", Type: "image", Data: picture(t, 1)})
	limited(t, err, "a picture")
	if n := h.files(t); n != 0 {
		t.Errorf("%d files of who was refused", n)
	}
	h.pass(-24 * time.Hour) // the clock is set right
	if err := h.trySay(t, of(0), "x"); err != nil {
		t.Errorf("after the clock was set back: %v", err)
	}
}

func TestAFileOfWhoIsRefusedAtTheLastMomentDoesNotStay(t *testing.T) {
	h := open(t)
	err := h.db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`CREATE TRIGGER refuse BEFORE INSERT ON chat_lines BEGIN SELECT RAISE(ABORT, 'no'); END`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Say(t.Context(), listener(1), chat.SayIn{User: "x", Type: "image", Data: picture(t, 1)}); err == nil {
		t.Fatal("kept")
	}
	if n := h.files(t); n != 0 {
		t.Errorf("%d files", n)
	}
}

func (h *house) files(t testing.TB) (n int) {
	t.Helper()
	err := filepath.WalkDir(h.opt.Dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The disk is the scheduler's as well: a smaller setting must not make one
// commit of many seconds, which never ends.
func TestLessSpaceForAttachmentsIsMadeInSmallCommits(t *testing.T) {
	h := open(t)
	err := h.db.Write(t.Context(), func(tx *sql.Tx) error {
		for i := range 200 {
			name := fmt.Sprintf("%064x.png", i)
			if _, err := tx.Exec(`INSERT INTO chat_media VALUES (?, 1000)`, name); err != nil {
				return err
			}
			if _, err := tx.Exec(`INSERT INTO chat_lines (room, at, user, kind, text, media) VALUES ('main', ?, 'x', 'image', '', ?)`, h.clock().UnixMilli(), name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	left := func() (n int) {
		if err := h.db.Read().QueryRow(`SELECT count(*) FROM chat_media`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	first := -1
	h.opt.MediaBytes, h.opt.Tell = 10_000, func(string, any) {
		if first < 0 {
			first = left()
		}
	}
	h.reopen(t)
	if err := h.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if first < 100 || left() != 10 {
		t.Errorf("%d left after the first commit, %d at the end", first, left())
	}
}

func TestWhatIsDeletedIsGoneForEverybodyAndStaysInTheAuditLog(t *testing.T) {
	h := open(t)
	c, err := h.Comment(t.Context(), listener(1), chat.CommentIn{Name: "سلمى", Text: "تعليق", ID: "a-comment-of-hers"})
	if err != nil {
		t.Fatal(err)
	}
	m := h.say(t, listener(1), "رسالة")
	if _, err := h.React(t.Context(), listener(2), chat.ReactIn{MsgID: m.ID, Emoji: "👍"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, id := range []string{c.ID, m.ID} {
			if err := h.Delete(t.Context(), operator, id); err != nil {
				t.Fatal(err)
			}
		}
	}
	if told := h.heard("message_deleted"); !slices.Equal(told, []string{`{"id":"` + c.ID + `"}`, `{"id":"` + m.ID + `","room":"main"}`}) {
		t.Errorf("%v", told)
	}
	all, _ := h.CommentsAfter(t.Context(), "", 50)
	if got := h.texts(t, listener(2)); len(got)+len(all) != 0 {
		t.Errorf("%v %v", got, all)
	}
	// Sent again it is answered, and does not come back.
	if again, err := h.Comment(t.Context(), listener(1), chat.CommentIn{Name: "سلمى", Text: "تعليق", ID: "a-comment-of-hers"}); err != nil || again.ID != c.ID {
		t.Errorf("%+v %v", again, err)
	}
	is(t, h.Delete(t.Context(), operator, "c2"), station.ErrNotFound, "a message by a comment's name")

	// All of one author, of the last minutes, wherever it was.
	h.pass(time.Hour)
	old := h.say(t, listener(1), "قديم")
	h.pass(time.Hour)
	for i := range 3 {
		h.say(t, listener(1), fmt.Sprint("سيل ", i))
		h.pass(time.Second)
	}
	if _, err := h.Comment(t.Context(), listener(1), chat.CommentIn{Name: "x", Text: "سيل"}); err != nil {
		t.Fatal(err)
	}
	h.say(t, listener(2), "بريء")
	kept := h.texts(t, listener(3))
	if n, err := h.Purge(t.Context(), operator, chat.PurgeIn{Of: old.ID, Minutes: 30, DryRun: true}); err != nil || n != 4 || !slices.Equal(h.texts(t, listener(3)), kept) {
		t.Errorf("%d would go: %v", n, err)
	}
	if n, err := h.Purge(t.Context(), operator, chat.PurgeIn{Of: old.ID, Minutes: 30}); err != nil || n != 4 {
		t.Errorf("%d purged: %v", n, err)
	}
	if got := h.texts(t, listener(3)); !slices.Equal(got, []string{"قديم", "بريء"}) {
		t.Errorf("%v", got)
	}

	found, err := h.Search(t.Context(), chat.SearchIn{Of: old.ID, Limit: 50})
	if err != nil || len(found) != 7 || found[0].State != "deleted" || found[0].Device == "" || found[0].Device != found[6].Device || found[0].Text != "" {
		t.Errorf("%d found: %+v %v", len(found), found, err)
	}
	if found, err := h.Search(t.Context(), chat.SearchIn{Text: "%"}); err != nil || len(found) != 0 {
		t.Errorf("a wildcard finds %+v %v", found, err)
	}
	deeds, err := h.Audit(t.Context(), 0, 50)
	if err != nil || len(deeds) != 3 || deeds[0].Action != "purge" || deeds[1].Who != "203.0.113.1" || !strings.Contains(string(deeds[1].Detail), "رسالة") {
		t.Errorf("%+v %v", deeds, err)
	}
	if before, err := h.Audit(t.Context(), deeds[0].ID, 1); err != nil || len(before) != 1 || before[0].ID != deeds[1].ID {
		t.Errorf("%+v %v", before, err)
	}
}
