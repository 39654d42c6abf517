package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"github.com/athir-radio/athir/internal/alarm"
)

// failure says why a message was not accepted, and what to do. No text of it holds the
// password: servers answer with codes and words of their own.
func (o Options) failure(ctx context.Context, err error, to string) *alarm.Failure {
	f := &alarm.Failure{Perhaps: perhaps(err)}
	var reply *textproto.Error
	if errors.As(err, &reply) {
		o.refused(f, err, reply, to)
		return f
	}
	said := err.Error()
	var code *gomail.SendError
	if errors.As(err, &code) && code.ErrorCode() >= 400 { // its cause is not wrapped
		reply = &textproto.Error{Code: code.ErrorCode(), Msg: said}
		o.refused(f, err, reply, to)
		return f
	}
	if !o.unreached(f, ctx, err) {
		f.Why = fmt.Sprintf("the mail server %s did not take it: %s", o.address(), said)
	}
	return f
}

// perhaps reports that the message may have been accepted: all of it was sent, and no answer
// came.
func perhaps(err error) bool {
	var of *gomail.SendError
	return errors.As(err, &of) && of.ErrorCode() == 0 && (of.Reason == gomail.ErrSMTPDataClose || of.Reason == gomail.ErrWriteContent)
}

// refused reads an answer of the server (RFC 5321, RFC 4954).
func (o Options) refused(f *alarm.Failure, err error, reply *textproto.Error, to string) {
	f.Why = fmt.Sprintf("the mail server %s said %d: %s", o.address(), reply.Code, plainText(reply.Msg))
	f.Lasting = reply.Code >= 500
	var of *gomail.SendError
	var stage gomail.SendErrReason = -1
	if errors.As(err, &of) {
		stage = of.Reason
	}
	switch {
	case reply.Code == 535 || reply.Code == 534:
		f.Remedy = "check alarms.email.user and alarms.email.password; with two-step login you need a password for apps"
	case reply.Code == 530 || reply.Code == 538:
		f.Remedy = "set alarms.email.user and alarms.email.password, and alarms.email.tls: starttls"
	case strings.Contains(err.Error(), "SMTP AUTH failed") && f.Lasting:
		f.Remedy = "check alarms.email.user and alarms.email.password"
	case !f.Lasting:
		f.Remedy = "it is tried again"
	case stage == gomail.ErrSMTPMailFrom:
		f.Remedy = "check alarms.email.from: the server must let this login send from that address"
	case stage == gomail.ErrSMTPRcptTo:
		f.Remedy = fmt.Sprintf("check %s in alarms.email.to", to)
	case stage == gomail.ErrSMTPDataClose:
		f.Remedy = "the server does not like the message: check alarms.email.from, and ask its administrator"
	}
}

// unreached says why there was no conversation; false if that is not the reason.
func (o Options) unreached(f *alarm.Failure, ctx context.Context, err error) bool {
	var dns *net.DNSError
	var op *net.OpError
	var record tls.RecordHeaderError
	said := err.Error()
	switch {
	case errors.As(err, &dns):
		f.Why, f.Remedy = fmt.Sprintf("the name of the mail server %s is not found", o.Host), "check alarms.email.server, and the name servers of this machine"
	case errors.As(err, &op) && op.Op == "dial":
		f.Why, f.Remedy = fmt.Sprintf("the mail server %s cannot be reached: %v", o.address(), op.Err), "check alarms.email.server; many providers block port 25: use 587 with starttls, or 465 with tls"
	case errors.As(err, &record):
		f.Why, f.Remedy, f.Lasting = fmt.Sprintf("the mail server %s does not begin with TLS", o.address()), "set alarms.email.tls: starttls, or the port that begins with TLS, most often 465", true
	case untrusted(err) != "":
		f.Why, f.Remedy, f.Lasting = fmt.Sprintf("the certificate of the mail server %s is not trusted: %s", o.address(), untrusted(err)), "write alarms.email.server as the certificate names it, or renew the server's certificate", true
	case strings.Contains(said, "does not support STARTTLS"):
		f.Why, f.Remedy, f.Lasting = fmt.Sprintf("the mail server %s offers no encryption (STARTTLS)", o.address()), "set alarms.email.tls: tls and its port, most often 465; none is for a server on this machine", true
	case strings.Contains(said, "does not support SMTP AUTH"), errors.Is(err, gomail.ErrNoSupportedAuthDiscovered):
		f.Why, f.Remedy, f.Lasting = fmt.Sprintf("the mail server %s offers no login that is known here", o.address()), "use its port for sending, most often 587 or 465, or leave alarms.email.user empty", true
	case strings.Contains(said, "unencrypted connection"):
		f.Why, f.Remedy, f.Lasting = "the password is not sent over an open line", "set alarms.email.tls: starttls", true
	case ctx.Err() != nil || timedOut(err):
		f.Why, f.Remedy = fmt.Sprintf("the mail server %s does not answer", o.address()), "where its port is 465, alarms.email.tls must be tls; elsewhere starttls"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		f.Why = fmt.Sprintf("the mail server %s hung up", o.address())
	default:
		return false
	}
	return true
}

func timedOut(err error) bool {
	var slow net.Error
	return errors.As(err, &slow) && slow.Timeout()
}

// untrusted says what is wrong with a certificate; empty: nothing.
func untrusted(err error) string {
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "it is for another name"
	case errors.As(err, &authority):
		return "nobody known has signed it"
	case errors.As(err, &invalid):
		return invalid.Error()
	}
	return ""
}

// plainText is a server's words as one line.
func plainText(s string) string {
	const most = 300
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
