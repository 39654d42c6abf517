package webpush

import (
	"context"
	"crypto/ecdh"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/station"
)

// Topic is a subject that a subscriber can be notified of.
type Topic string

// The topics.
const (
	Live     Topic = "live"     // somebody goes live
	Artist   Topic = "artist"   // a favourite artist is on air
	Bulletin Topic = "bulletin" // a new bulletin is on air
	Alert    Topic = "alert"    // the station is silent; for operators
	// Own is what became of something that the subscriber sent. Nobody chooses it: it
	// goes to the device that sent it.
	Own Topic = "own"
)

// Topics returns all that can be chosen.
func Topics() []Topic { return []Topic{Live, Artist, Bulletin, Alert} }

// Wishes are a subscriber's choices.
type Wishes struct {
	// Topics defaults to live, and artist where Artists names any.
	Topics  []Topic
	Artists []string // as the listener writes them
	Lang    string   // ar or en; empty means the station's
	Quiet   *Quiet
}

// Quiet is a time of day without notifications, alerts excepted.
type Quiet struct {
	From, To string // HH:MM; may span midnight
	Zone     string // an IANA name; empty means the station's
}

// Order is a browser's PushSubscription and its wishes. The keys are base64url.
type Order struct {
	Endpoint     string
	P256dh, Auth string
	Expires      int64 // epoch milliseconds; 0 for never
	Wishes
}

// Client is who subscribes.
type Client struct {
	Address string // by kit/client.Address
	Device  []byte // by kit/client.DeviceKey; nil for none
	Staff   bool   // showed the station key
}

const (
	longestEndpoint = 2000
	mostArtists     = 50
	longestArtist   = 200 // bytes
)

// Subscribe keeps a subscription, or changes the one with the same endpoint. When
// it returns nil, it is on disk. Errors: station.ErrInvalid,
// station.ErrUnauthentic for the alert topic without the key,
// station.ErrUnavailable when there are too many, *client.LimitError.
func (p *Push) Subscribe(ctx context.Context, from Client, o Order) (Wishes, error) {
	if err := p.limits.Take(from.Address); err != nil {
		return Wishes{}, err
	}
	r, err := p.valid(o)
	if err != nil {
		return Wishes{}, err
	}
	if slices.Contains(r.wishes.Topics, Alert) && !from.Staff {
		return Wishes{}, fmt.Errorf("topics: alert is for operators: send the station key: %w", station.ErrUnauthentic)
	}
	if err := p.mayNameStranger(ctx, from, r); err != nil {
		return Wishes{}, err
	}
	r.device = from.Device
	if err := p.keep(ctx, r); err != nil {
		return Wishes{}, err
	}
	return r.wishes, nil
}

// row is a subscription as it is stored.
type row struct {
	hash     []byte
	endpoint string
	p256dh   []byte
	auth     []byte
	expires  int64
	wishes   Wishes
	keys     []string // of the artists
	stranger string
	device   []byte
	from, to int // quiet, minutes of the day
}

func invalid(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, station.ErrInvalid)...)
}

// valid checks what came from outside.
func (p *Push) valid(o Order) (*row, error) {
	r := &row{hash: hashOf(o.Endpoint), endpoint: o.Endpoint, expires: o.Expires, wishes: o.Wishes}
	var err error
	if r.stranger, err = p.validEndpoint(o.Endpoint); err != nil {
		return nil, err
	}
	if r.p256dh, err = decodeKey(o.P256dh); err == nil {
		_, err = ecdh.P256().NewPublicKey(r.p256dh)
	}
	if err != nil || len(r.p256dh) != pointBytes {
		return nil, invalid("keys.p256dh: must be an uncompressed point of P-256, %d bytes in base64url", pointBytes)
	}
	if r.auth, err = decodeKey(o.Auth); err != nil || len(r.auth) != authBytes {
		return nil, invalid("keys.auth: must be %d bytes in base64url", authBytes)
	}
	if r.expires != 0 && r.expires <= p.opt.Now().UnixMilli() {
		return nil, invalid("expirationTime: has passed")
	}
	if err := p.validWishes(&r.wishes); err != nil {
		return nil, err
	}
	for _, name := range r.wishes.Artists {
		keys := p.opt.Artists(name)
		if len(keys) == 0 {
			return nil, invalid("artists: %q is not a name", name)
		}
		r.keys = append(r.keys, keys...)
	}
	r.from, r.to, err = p.validQuiet(r.wishes.Quiet)
	return r, err
}

// validEndpoint checks an endpoint and returns its domain if that is a stranger's.
func (p *Push) validEndpoint(endpoint string) (stranger string, err error) {
	if len(endpoint) > longestEndpoint {
		return "", invalid("endpoint: is longer than %d bytes", longestEndpoint)
	}
	u, err := p.opt.Sender.Check(endpoint)
	if err != nil {
		return "", invalid("endpoint: %w", err)
	}
	if u.Scheme != "https" && !p.opt.Plain {
		return "", invalid("endpoint: must begin with https://")
	}
	return p.stranger(u), nil
}

func (p *Push) validWishes(w *Wishes) error {
	if len(w.Artists) > mostArtists {
		return invalid("artists: must be at most %d", mostArtists)
	}
	w.Artists = slices.Clone(w.Artists)
	for i, name := range w.Artists {
		w.Artists[i] = clipped(name, longestArtist)
		if len(name) > longestArtist || !utf8.ValidString(name) {
			return invalid("artists: a name has at most %d bytes of UTF-8", longestArtist)
		}
	}
	if len(w.Topics) == 0 {
		w.Topics = []Topic{Live}
		if len(w.Artists) > 0 {
			w.Topics = []Topic{Live, Artist}
		}
	}
	w.Topics = slices.Clone(w.Topics)
	slices.SortFunc(w.Topics, func(a, b Topic) int { return slices.Index(Topics(), a) - slices.Index(Topics(), b) })
	w.Topics = slices.Compact(w.Topics)
	for _, t := range w.Topics {
		if !slices.Contains(Topics(), t) {
			return invalid("topics: %.40q is not a topic: use %q", t, Topics())
		}
	}
	if slices.Contains(w.Topics, Artist) && len(w.Artists) == 0 {
		return invalid("artists: name one for the topic artist")
	}
	if w.Lang == "" {
		w.Lang = p.opt.Lang
	}
	if w.Lang != "ar" && w.Lang != "en" {
		return invalid("lang: must be ar or en")
	}
	return nil
}

func (p *Push) validQuiet(q *Quiet) (from, to int, err error) {
	if q == nil {
		return 0, 0, nil
	}
	from, ok := minutes(q.From)
	to, ok2 := minutes(q.To)
	if !ok || !ok2 || from == to {
		return 0, 0, invalid("quiet: from and to must be two times, as in 23:00 and 07:00")
	}
	if q.Zone != "" {
		if _, err := time.LoadLocation(q.Zone); err != nil || len(q.Zone) > 64 || q.Zone == "Local" {
			return 0, 0, invalid("quiet.zone: must be a zone's name, as in Africa/Cairo")
		}
	}
	return from, to, nil
}

// minutes reads HH:MM.
func minutes(text string) (int, bool) {
	t, err := time.Parse("15:04", text)
	return t.Hour()*60 + t.Minute(), err == nil && len(text) == 5
}

func decodeKey(text string) ([]byte, error) {
	if len(text) > 200 {
		return nil, errors.New("too long")
	}
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

func hashOf(endpoint string) []byte {
	sum := sha256.Sum256([]byte(endpoint))
	return sum[:]
}

// keep saves a subscription, replacing the one with its endpoint.
func (p *Push) keep(ctx context.Context, r *row) error {
	artists, err := json.Marshal(append([]string{}, r.wishes.Artists...))
	if err != nil {
		return err
	}
	zone := ""
	if r.wishes.Quiet != nil {
		zone = r.wishes.Quiet.Zone
	}
	err = p.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var all int
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM push_subscriptions WHERE hash <> ?`, r.hash).Scan(&all)
		if err == nil && all >= p.opt.Most {
			err = fmt.Errorf("no more subscriptions are accepted: %w", station.ErrUnavailable)
		}
		if err == nil {
			err = roomForStranger(ctx, tx, r)
		}
		if err != nil {
			return err
		}
		now := p.opt.Now().UnixMilli()
		var n int64
		err = tx.QueryRowContext(ctx, `INSERT INTO push_subscriptions
			(hash, endpoint, p256dh, auth, expires, topics, artists, lang, quiet_from, quiet_to, zone, created, updated, stranger, device, artist_at, failures, failing)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0)
			ON CONFLICT (hash) DO UPDATE SET p256dh = excluded.p256dh, auth = excluded.auth, expires = excluded.expires,
				topics = excluded.topics, artists = excluded.artists, lang = excluded.lang, quiet_from = excluded.quiet_from,
				quiet_to = excluded.quiet_to, zone = excluded.zone, updated = excluded.updated, stranger = excluded.stranger,
				device = coalesce(excluded.device, device), failures = 0, failing = 0
			RETURNING n`,
			r.hash, r.endpoint, r.p256dh, r.auth, r.expires, spaced(r.wishes.Topics), string(artists), r.wishes.Lang, r.from, r.to, zone, now, now, r.stranger, r.device).Scan(&n)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM push_artists WHERE subscription = ?`, n); err != nil {
			return err
		}
		for _, key := range r.keys {
			if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO push_artists VALUES (?, ?)`, key, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save subscription: %w", err)
	}
	return nil
}

// spaced writes topics so that " live " is found in them.
func spaced(topics []Topic) string {
	out := " "
	for _, t := range topics {
		out += string(t) + " "
	}
	return out
}

// Unsubscribe deletes a subscription. An unknown endpoint is no error.
func (p *Push) Unsubscribe(ctx context.Context, endpoint string) error {
	err := p.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM push_subscriptions WHERE hash = ?`, hashOf(endpoint))
		return err
	})
	if err != nil {
		return fmt.Errorf("delete subscription: %w", err)
	}
	return nil
}

// Wishes returns the choices of the subscription with that endpoint. Errors:
// station.ErrNotFound, *client.LimitError.
func (p *Push) Wishes(ctx context.Context, from Client, endpoint string) (Wishes, error) {
	if err := p.limits.Take(from.Address); err != nil {
		return Wishes{}, err
	}
	var w Wishes
	var topics, artists, zone string
	var begin, end int
	err := p.opt.DB.Read().QueryRowContext(ctx, `SELECT topics, artists, lang, quiet_from, quiet_to, zone FROM push_subscriptions WHERE hash = ?`,
		hashOf(endpoint)).Scan(&topics, &artists, &w.Lang, &begin, &end, &zone)
	if errors.Is(err, sql.ErrNoRows) {
		return Wishes{}, fmt.Errorf("this subscription: %w", station.ErrNotFound)
	}
	if err != nil {
		return Wishes{}, fmt.Errorf("read subscription: %w", err)
	}
	for t := range strings.FieldsSeq(topics) {
		w.Topics = append(w.Topics, Topic(t))
	}
	if begin != end {
		w.Quiet = &Quiet{clock(begin), clock(end), zone}
	}
	return w, json.Unmarshal([]byte(artists), &w.Artists)
}

func clock(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60) }

// write runs a transaction, which goes on if the caller leaves.
func (p *Push) write(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return p.opt.DB.Write(ctx, func(tx *sql.Tx) error { return fn(ctx, tx) })
}
