package ingest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/live"
)

// Whoever keeps the door busy from many addresses, and comes again when put out, puts out
// its own: the oldest of all was as often an encoder that had not sent its login yet.
func TestAStormPutsOutItsOwn(t *testing.T) {
	serving(t, func(t *testing.T, d *door) {
		from := func(a, b byte) { d.net.set(&net.TCPAddr{IP: net.IPv4(10, 0, a, b), Port: 1}) }
		from(1, 1)
		sara := d.knock()
		synctest.Wait()
		var storm []net.Conn
		knock := func(times int) {
			for i := range times {
				from(0, byte(i%16))
				storm = append(storm, d.knock())
				synctest.Wait()
			}
		}
		knock(4 * mostConnections)
		in := bufio.NewReader(sara)
		_, _ = io.WriteString(sara, strings.ReplaceAll(source("/sara", login), "\n", "\r\n"))
		if line, _ := in.ReadString('\n'); line != "HTTP/1.0 200 OK\r\n" {
			t.Errorf("an encoder amid a storm: %q", line)
		}
		// Of a site of IPv6 all networks count as one.
		d.net.set(&net.TCPAddr{IP: net.ParseIP("2001:db8::1"), Port: 1})
		other := d.knock()
		synctest.Wait()
		for i := range byte(4*mostConnections - 1) {
			d.net.set(&net.TCPAddr{IP: net.IP{0x20, 1, 0xd, 0xb9, 0, 0, 0, i, 15: 1}, Port: 1})
			storm = append(storm, d.knock())
			synctest.Wait()
		}
		_, _ = io.WriteString(other, strings.ReplaceAll(source("/other", login), "\n", "\r\n"))
		if line, _ := bufio.NewReader(other).ReadString('\n'); line != "HTTP/1.0 200 OK\r\n" {
			t.Errorf("an encoder amid a storm of one site: %q", line)
		}
		// Who has sent a whole head is looked at, however many come after it.
		asked, goOn := make(chan struct{}), make(chan struct{})
		admit := d.opt.Admit
		d.opt.Admit = func(ctx context.Context, who live.Credentials) (live.Admission, error) {
			close(asked)
			<-goOn
			return admit(ctx, who)
		}
		from(0, 1) // the storm's own address
		late := d.knock()
		go io.WriteString(late, strings.ReplaceAll(source("/late", login), "\n", "\r\n")) //nolint:errcheck // its answer tells
		<-asked
		knock(2 * mostConnections)
		close(goOn)
		if line, _ := bufio.NewReader(late).ReadString('\n'); line != "HTTP/1.0 200 OK\r\n" {
			t.Errorf("one whose password is looked at: %q", line)
		}
		for _, conn := range append(storm, sara, other, late) {
			_ = conn.Close()
		}
		synctest.Wait()
		if len(d.waiting) > 0 || d.all > 0 || len(d.open) > 0 {
			t.Errorf("%d wait, %d are counted, of %d addresses", len(d.waiting), d.all, len(d.open))
		}
	})
}

// A presenter's key holds no place of the studio's microphone, and neither does a connection
// of its own that it lost a moment ago.
func TestTheStudiosMountIsItsOwn(t *testing.T) {
	serving(t, func(t *testing.T, d *door) {
		d.try("a presenter", source(StudioMount, login), "403 this mount is the studio's own: use another")
		first := d.ask("the studio", source(StudioMount, host), "200 OK")
		d.send(first, "first")
		again := d.ask("the studio again", source(StudioMount, host), "200 OK")
		d.send(again, " again")
		if d.got[StudioMount] != "first again" || len(d.ends) != 1 {
			t.Errorf("got %q, ended %v", d.got, d.ends)
		}
		d.try("a presenter meanwhile", source(StudioMount, login), "403 this mount is the studio's own: use another")
		_, _ = first.Close(), again.Close()
	})
}

// A title is no way round the limit of wrong passwords, nor tells it who sends: a login that
// is not known gets one answer, and costs.
func TestTitlesTellNobodyWhichPasswordIsRight(t *testing.T) {
	serving(t, func(t *testing.T, d *door) {
		d.net.set(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1})
		sara := d.ask("sara", source("/sara", login), "200 OK")
		d.net.set(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 66), Port: 1})
		for i, query := range []string{"mode=updinfo&song=x", "mode=updinfo&song=x", "mode=updinfo&mount=/nobody&song=x", "mode=updinfo&mount=/sara&song=x", "mount=/nobody"} {
			d.try(fmt.Sprint(i, query), title(wrong, query), "401 Unauthorized")
		}
		begun := time.Now()
		for _, query := range []string{"mode=updinfo&song=x", "mode=updinfo&mount=/nobody&song=x", "mode=updinfo&mount=/sara&song=x"} {
			d.try(query, title(wrong, query), "429 Too Many Requests")
		}
		if took := time.Since(begun); took != 3*wrongPause {
			t.Errorf("three guesses in %s", took)
		}
		d.try("sara from there", title(login, "mode=updinfo&song=News"), "200 OK")
		_ = sara.Close()
	})
}

// From an address that has spent its wrong passwords no two are looked at together, by
// whatever way: eight connections would guess eight at once.
func TestASpentAddressGuessesOneByOne(t *testing.T) {
	serving(t, func(t *testing.T, d *door) {
		d.net.set(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1})
		for range 5 {
			d.try("wrong", source("/sara", wrong), "401 Unauthorized")
		}
		begun := time.Now()
		var all sync.WaitGroup
		for i := range mostOfOne - 1 {
			all.Go(func() {
				request := source("/sara", wrong)
				if i%2 == 0 {
					request = title(wrong, "mode=updinfo&mount=/sara&song=x")
				}
				d.try("one more", request, "429 Too Many Requests")
			})
		}
		synctest.Wait()
		d.try("the right one in the midst", source("/sara", login), "200 OK")
		all.Wait()
		if took := time.Since(begun); took != (mostOfOne-1)*wrongPause {
			t.Errorf("%d guesses in %s", mostOfOne-1, took)
		}
	})
}
