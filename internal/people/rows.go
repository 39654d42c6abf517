package people

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
)

// querier is the database, or a transaction of it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// readAll reads everybody.
func readAll(ctx context.Context, db querier) (*everybody, error) {
	all := &everybody{byID: map[string]user{}, keys: map[sum]key{}, sessions: map[sum]session{}, links: map[sum]link{}, hashes: map[string]sum{}}
	err := each(ctx, db, `SELECT u.id, login, name, role, locked, password, totp, totp_step, created, seen, coalesce(i.until, 0),
			(SELECT count(*) FROM people_keys WHERE user = u.id), (SELECT count(*) FROM people_sessions WHERE user = u.id),
			(SELECT count(*) FROM people_passkeys WHERE user = u.id)
		FROM people_users u LEFT JOIN people_invitations i ON i.user = u.id ORDER BY n`, func(rows *sql.Rows) error {
		var u user
		err := rows.Scan(&u.ID, &u.Login, &u.Name, &u.Role, &u.Locked, &u.password, &u.totp, &u.step, &u.CreatedAt, &u.SeenAt, &u.Invited, &u.Keys, &u.Sessions, &u.Passkeys)
		u.Password, u.TOTP = u.password != "", u.totp != ""
		all.users = append(all.users, u)
		all.byID[u.ID] = u
		return err
	})
	if err != nil {
		return nil, err
	}
	err = each(ctx, db, `SELECT hash, id, user, name, role, until, created, used FROM people_keys`, func(rows *sql.Rows) error {
		var hash []byte
		var k key
		if err := rows.Scan(&hash, &k.ID, &k.User, &k.Name, &k.Role, &k.Until, &k.CreatedAt, &k.UsedDay); err != nil {
			return err
		}
		at, err := sumOf(hash)
		all.keys[at], all.hashes[k.ID] = k, at
		return err
	})
	if err != nil {
		return nil, err
	}
	err = each(ctx, db, `SELECT hash, id, user, agent, created, seen, until FROM people_sessions`, func(rows *sql.Rows) error {
		var hash []byte
		var s session
		if err := rows.Scan(&hash, &s.ID, &s.User, &s.Agent, &s.CreatedAt, &s.SeenAt, &s.Until); err != nil {
			return err
		}
		at, err := sumOf(hash)
		all.sessions[at], all.hashes[s.ID] = s, at
		return err
	})
	if err != nil {
		return nil, err
	}
	err = each(ctx, db, `SELECT hash, user, until FROM people_invitations`, func(rows *sql.Rows) error {
		var hash []byte
		var l link
		if err := rows.Scan(&hash, &l.user, &l.until); err != nil {
			return err
		}
		at, err := sumOf(hash)
		all.links[at] = l
		return err
	})
	return all, err
}

func each(ctx context.Context, db querier, query string, one func(*sql.Rows) error, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		if err := one(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func sumOf(hash []byte) (s sum, err error) {
	if len(hash) != sha256.Size {
		return s, fmt.Errorf("a hash has %d bytes, not %d", len(hash), sha256.Size)
	}
	return sum(hash), nil
}
