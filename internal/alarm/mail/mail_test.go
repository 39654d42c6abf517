package mail

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func message() alarm.Message {
	return alarm.Message{Subject: "[أثير] إنذار: صمت على الهواء", Text: "⚠ صمت على الهواء\nمنذ 21:04:05\n.\nالاستوديو: http://radio.example/studio"}
}

func send(ctx context.Context, o Options) error { return Receivers(o)[0].Send(ctx, message()) }

// read returns subject and text of a message as a mail program shows them.
func read(t *testing.T, raw string) (head netmail.Header, subject, text string) {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	if how := m.Header.Get("Content-Transfer-Encoding"); how != "quoted-printable" {
		t.Fatalf("encoded as %q", how)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		t.Fatal(err)
	}
	return m.Header, subject, strings.ReplaceAll(strings.TrimSpace(string(body)), "\r\n", "\n")
}

// A mail arrives as it was written, encrypted before the password is said, and by the login
// that the server has; also where there is TLS from the start, and where no login is wanted.
func TestAMailArrivesWhole(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*manner, *Options)
		login  string
		said   string
	}{
		{"STARTTLS", func(*manner, *Options) {}, `PLAIN "\x00studio\x00open sesame"`, "EHLO STARTTLS EHLO* AUTH*"},
		{"LOGIN alone", func(s *manner, _ *Options) { s.onlyLogin = true }, `LOGIN "studio" "open sesame"`, "EHLO STARTTLS EHLO* AUTH*"},
		{"TLS from the start", func(s *manner, o *Options) { s.implicit, o.TLS = true, TLS }, `PLAIN "\x00studio\x00open sesame"`, "EHLO* AUTH*"},
		{"this machine's own", func(s *manner, o *Options) { s.noTLS, s.noLogin, o.TLS, o.User = true, true, Plain, "" }, "", "EHLO MAIL"},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			o := s.options()
			s.mu.Lock()
			c.change(&s.manner, &o)
			s.mu.Unlock()
			if err := send(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if got := strings.Join(s.logins, " "); got != c.login {
				t.Errorf("login %s, want %s", got, c.login)
			}
			if said := strings.Join(s.said, " "); !strings.HasPrefix(strings.ReplaceAll(said, "NOOP ", ""), c.said) {
				t.Errorf("said %s", said)
			}
			if len(s.took) != 1 {
				t.Fatalf("%d messages", len(s.took))
			}
			head, subject, text := read(t, s.took[0])
			if m := message(); subject != m.Subject || text != m.Text {
				t.Errorf("%q\n%q", subject, text)
			}
			from, err := netmail.ParseAddress(head.Get("From"))
			if err != nil || from.Name != "أثير" || from.Address != o.From || !strings.Contains(head.Get("To"), "op@example.org") ||
				head.Get("Auto-Submitted") != "auto-generated" || head.Get("Date") == "" || head.Get("Message-Id") == "" {
				t.Errorf("%v %v", head, err)
			}
		})
	}
}

// Each fault of a server has its own words and remedy, says whether it passes by itself, and
// whether the message may have arrived.
func TestFaultsOfTheServerAreNamedWithTheirRemedy(t *testing.T) {
	set := func(verb, answer string) func(*server, *Options) {
		return func(s *server, _ *Options) { s.set(verb, answer) }
	}
	offers := func(how manner) func(*server, *Options) {
		return func(s *server, _ *Options) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.manner = how
		}
	}
	for _, c := range []struct {
		what             string
		change           func(*server, *Options)
		lasting, perhaps bool
		why, remedy      string
	}{
		{"wrong password", set("AUTH", "535 5.7.8 authentication failed"), true, false, "535", "alarms.email.password"},
		{"login that is not let in just now", set("AUTH", "454 4.7.0 try later"), false, false, "454", "tried again"},
		{"no login offered", offers(manner{noLogin: true}), true, false, "no login", "alarms.email.user"},
		{"login wanted", func(s *server, o *Options) { o.User = ""; s.set("MAIL", "530 5.7.0 authentication required") }, true, false, "530", "set alarms.email.user"},
		{"no STARTTLS", offers(manner{noTLS: true}), true, false, "no encryption", "alarms.email.tls"},
		{"STARTTLS where TLS is meant", func(_ *server, o *Options) { o.TLS = TLS }, true, false, "does not begin with TLS", "alarms.email.tls: starttls"},
		{"certificate of nobody", func(_ *server, o *Options) { o.Roots = nil }, true, false, "nobody known has signed it", "certificate"},
		{"certificate for another name", func(_ *server, o *Options) { o.Host = "localhost" }, true, false, "for another name", "alarms.email.server"},
		{"sender refused", set("MAIL", "553 5.7.1 not yours"), true, false, "553", "alarms.email.from"},
		{"recipient unknown", set("RCPT", "550 5.1.1 no such user"), true, false, "550", "op@example.org in alarms.email.to"},
		{"greylisted", set("RCPT", "451 4.7.1 greylisted"), false, false, "451", "tried again"},
		{"no room at the end", set("end of data", "452 4.3.1 no room"), false, false, "452", "tried again"},
		{"taken for junk", set("end of data", "554 5.7.1 spam"), true, false, "554", "alarms.email.from"},
		{"too many connections", set("greeting", "421 4.7.0 too many"), false, false, "421", "tried again"},
		{"hangs up at once", set("greeting", hangUp), false, false, "hung up", ""},
		{"hangs up at the login", set("AUTH", hangUp), false, false, "hung up", ""},
		{"cut in the middle of the message", set("body", hangUp), false, true, "", ""},
		{"cut before the message is confirmed", set("end of data", hangUp), false, true, "", ""},
		{"nobody listens", func(_ *server, o *Options) { o.Port = testkit.Port(t) }, false, false, "cannot be reached", "alarms.email.server"},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			o := s.options()
			c.change(s, &o)
			err := send(t.Context(), o)
			var f *alarm.Failure
			if !errors.As(err, &f) {
				t.Fatalf("%v", err)
			}
			if f.Lasting != c.lasting || f.Perhaps != c.perhaps || !strings.Contains(f.Why, c.why) || !strings.Contains(f.Remedy, c.remedy) {
				t.Errorf("lasting %v, perhaps %v, %q, %q", f.Lasting, f.Perhaps, f.Why, f.Remedy)
			}
			if strings.Contains(err.Error(), o.Password) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			// What passes by itself is taken the next time.
			if !c.lasting && o.Port == s.options().Port {
				if err := send(t.Context(), o); err != nil {
					t.Errorf("the next time: %v", err)
				}
			}
		})
	}
}

// A server that says nothing holds a message up no longer than its context.
func TestASilentServerIsLeftWithTheContext(t *testing.T) {
	for _, at := range []string{"greeting", "RCPT", "end of data"} {
		s := newServer(t)
		s.set(at, mute)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- send(ctx, s.options()) }()
		testkit.Receive(t, "a connection", s.accepted)
		testkit.Eventually(t, "the server is mute", func() bool { return s.left(at) == 0 })
		cancel()
		var f *alarm.Failure
		if err := testkit.Receive(t, "the failure", done); !errors.As(err, &f) || f.Lasting || f.Perhaps != (at == "end of data") {
			t.Errorf("mute at %s: %+v", at, f)
		}
	}
}

// What a server says when it is thanked changes nothing: the message is there.
func TestAMailThatWasTakenIsNotSentAgainForWhatFollows(t *testing.T) {
	for _, verb := range []string{"RSET", "QUIT"} {
		s := newServer(t)
		s.set(verb, hangUp)
		if err := send(t.Context(), s.options()); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
}

// Fails where the name of the station keeps all alarms from leaving, or becomes a line of the
// head or another sender.
func TestAnyNameOfAStationIsASender(t *testing.T) {
	for _, name := range []string{`Radio "Nile" FM`, `24" of radio`, `أثير "النيل"`, `a\b`, `x" <evil@example.org>, "y`, "a\r\nBcc: evil@example.org"} {
		s := newServer(t)
		o := s.options()
		o.Name = name
		if err := send(t.Context(), o); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		s.mu.Lock()
		head, _, _ := read(t, s.took[0])
		s.mu.Unlock()
		if from, err := head.AddressList("From"); err != nil || len(from) != 1 || from[0].Name != name || from[0].Address != o.From || head.Get("Bcc") != "" {
			t.Errorf("%q: from %v, %v, head %v", name, from, err, head)
		}
	}
}

// Each address is a receiver: one that is refused keeps the other from nothing.
func TestEachAddressIsAReceiver(t *testing.T) {
	s := newServer(t)
	o := s.options()
	o.To = []string{"gone@example.org", "here@example.org"}
	s.set("RCPT", "550 5.1.1 no such user")
	var names []string
	var failed []bool
	for _, r := range Receivers(o) {
		names, failed = append(names, r.Name), append(failed, r.Send(t.Context(), message()) != nil)
	}
	if !slices.Equal(names, []string{"email gone@example.org", "email here@example.org"}) || !slices.Equal(failed, []bool{true, false}) {
		t.Errorf("%v %v", names, failed)
	}
}
