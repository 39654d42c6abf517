package store

import "context"

// CloseConnections closes every connection, as the pools may; the next call opens new
// ones.
func (db *DB) CloseConnections(context.Context) {
	db.reader.SetMaxIdleConns(-1)
	db.writer.SetMaxIdleConns(-1)
	db.reader.SetMaxIdleConns(4)
	db.writer.SetMaxIdleConns(1)
}

// Small makes a follower's bounds of the log a 64th, so that little data crosses them.
func (f *Follower) Small() *Follower {
	f.fold, f.most = foldAt/64, mostLog/64
	return f
}
