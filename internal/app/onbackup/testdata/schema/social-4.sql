CREATE TABLE migrations_social (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE social_posts (
	id          INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: it is in file names
	once        TEXT    UNIQUE,                    -- of the submission, so that it counts once; null: none
	type        TEXT    NOT NULL,
	title       TEXT    NOT NULL,
	artist      TEXT    NOT NULL,
	description TEXT    NOT NULL,
	tags        TEXT    NOT NULL,                  -- JSON list
	created_by  TEXT    NOT NULL,
	folded      TEXT    NOT NULL,                  -- title, artist and name, for the search
	submitter   BLOB    NOT NULL,
	address     BLOB,
	wider       BLOB,
	device      BLOB,                              -- where messages to the submitter go: kit/client.DeviceKey; null: nowhere
	rights      TEXT    NOT NULL,

	status      TEXT    NOT NULL CHECK (status IN ('processing', 'pending', 'approved', 'rejected', 'failed')),
	reason      TEXT    NOT NULL DEFAULT '',
	refusal     TEXT    NOT NULL DEFAULT '{}',      -- the reason with what its words need
	appeal      TEXT    NOT NULL DEFAULT '',
	created     INTEGER NOT NULL,                  -- epoch milliseconds, as all times
	decided     INTEGER NOT NULL,
	approved    INTEGER NOT NULL DEFAULT 0,

	run         INTEGER NOT NULL DEFAULT 1,        -- of the worker: a result of an older one is stale
	tries       INTEGER NOT NULL DEFAULT 0,
	next_try    INTEGER NOT NULL DEFAULT 0,

	source_kind TEXT    NOT NULL CHECK (source_kind IN ('upload', 'base64', 'url')),
	source_name TEXT    NOT NULL,
	source_url  TEXT    NOT NULL DEFAULT '',
	source      TEXT    NOT NULL DEFAULT '',       -- file in the folder of incoming ones; empty: none (yet, or no more)
	source_size INTEGER NOT NULL DEFAULT 0,

	slug        TEXT    NOT NULL,
	file        TEXT    NOT NULL DEFAULT '',       -- relative to the media root; empty: not mastered
	bytes       INTEGER NOT NULL DEFAULT 0,
	duration    INTEGER NOT NULL DEFAULT 0,        -- milliseconds
	levels      TEXT    NOT NULL DEFAULT '{}',
	cover       TEXT    NOT NULL DEFAULT '',       -- media type
	finding     TEXT    NOT NULL DEFAULT '{}',
	alike       TEXT    NOT NULL DEFAULT '[]',

	up          INTEGER NOT NULL DEFAULT 0,
	down        INTEGER NOT NULL DEFAULT 0,
	weighed_up   REAL   NOT NULL DEFAULT 0,
	weighed_down REAL   NOT NULL DEFAULT 0,
	reports     INTEGER NOT NULL DEFAULT 0
, plain INTEGER NOT NULL DEFAULT 0, support REAL NOT NULL DEFAULT 0) STRICT;
CREATE INDEX social_posts_status ON social_posts (status, id);
CREATE INDEX social_posts_submitter ON social_posts (submitter, created);
CREATE INDEX social_posts_address ON social_posts (address, created) WHERE address IS NOT NULL;
CREATE INDEX social_posts_wider ON social_posts (wider, created) WHERE wider IS NOT NULL;
CREATE INDEX social_posts_source ON social_posts (source) WHERE source <> '';
CREATE INDEX social_posts_file ON social_posts (file) WHERE file <> '';
CREATE TABLE social_prints (
	post  INTEGER PRIMARY KEY REFERENCES social_posts (id) ON DELETE CASCADE,
	print BLOB NOT NULL,
	short BLOB NOT NULL
) STRICT;
CREATE TABLE social_history (
	id     INTEGER PRIMARY KEY AUTOINCREMENT,
	post   INTEGER NOT NULL REFERENCES social_posts (id) ON DELETE CASCADE,
	at     INTEGER NOT NULL,
	who    TEXT    NOT NULL, -- machine, submitter, listeners, or a moderator's address
	action TEXT    NOT NULL,
	detail TEXT    NOT NULL
) STRICT;
CREATE INDEX social_history_post ON social_history (post, id);
CREATE TABLE social_votes (
	post    INTEGER NOT NULL REFERENCES social_posts (id) ON DELETE CASCADE,
	voter   BLOB    NOT NULL,
	delta   INTEGER NOT NULL CHECK (delta IN (-1, 1)),
	at      INTEGER NOT NULL,
	address BLOB,
	network BLOB,
	known   INTEGER NOT NULL,
	PRIMARY KEY (post, voter)
) STRICT, WITHOUT ROWID;
CREATE INDEX social_votes_address ON social_votes (post, address) WHERE address IS NOT NULL;
CREATE INDEX social_votes_network ON social_votes (post, network) WHERE network IS NOT NULL;
CREATE TABLE social_voters (
	voter   BLOB    PRIMARY KEY,
	address BLOB,
	since   INTEGER NOT NULL,
	seen    INTEGER NOT NULL
, network BLOB) STRICT, WITHOUT ROWID;
CREATE INDEX social_voters_address ON social_voters (address) WHERE address IS NOT NULL;
CREATE INDEX social_voters_seen ON social_voters (seen);
CREATE TABLE social_reactions (
	post    INTEGER NOT NULL REFERENCES social_posts (id) ON DELETE CASCADE,
	voter   BLOB    NOT NULL,
	kind    TEXT    NOT NULL,
	address BLOB,
	network BLOB,
	known   INTEGER NOT NULL,
	PRIMARY KEY (post, voter, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX social_reactions_address ON social_reactions (post, address) WHERE address IS NOT NULL;
CREATE TABLE social_reports (
	post    INTEGER NOT NULL REFERENCES social_posts (id) ON DELETE CASCADE,
	voter   BLOB    NOT NULL,
	address BLOB,
	at      INTEGER NOT NULL,
	why     TEXT    NOT NULL,
	text    TEXT    NOT NULL,
	open    INTEGER NOT NULL, network BLOB, -- 0 once a moderator has judged
	PRIMARY KEY (post, voter)
) STRICT, WITHOUT ROWID;
CREATE TABLE social_submitters (
	id      BLOB    PRIMARY KEY,
	trusted INTEGER NOT NULL DEFAULT 0,
	blocked INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE social_state (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	salt BLOB NOT NULL
) STRICT;
CREATE INDEX social_voters_network ON social_voters (network) WHERE network IS NOT NULL;
CREATE INDEX social_reactions_network ON social_reactions (post, network) WHERE network IS NOT NULL;
INSERT OR REPLACE INTO migrations_social VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_social VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_social VALUES (3, 3, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_social VALUES (4, 4, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO social_posts VALUES (1, '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', X'01FF', X'01FF', X'01FF', X'01FF', '"أثير 1"', 'processing', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, 1, 1, 1, 1, 1, 'upload', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, '"أثير 1"', '"أثير 1"', 1, 1, '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, 1, 1.5, 1.5, 1, 1, 1.5);
INSERT OR REPLACE INTO social_posts VALUES (2, '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', X'02FF', X'02FF', X'02FF', X'02FF', '"أثير 2"', 'pending', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, 2, 2, 2, 2, 2, 'base64', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, '"أثير 2"', '"أثير 2"', 2, 2, '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, 2, 2.5, 2.5, 2, 2, 2.5);
INSERT OR REPLACE INTO social_prints VALUES (1, X'01FF', X'01FF');
INSERT OR REPLACE INTO social_prints VALUES (2, X'02FF', X'02FF');
INSERT OR REPLACE INTO social_history VALUES (1, 1, 1, '"أثير 1"', '"أثير 1"', '"أثير 1"');
INSERT OR REPLACE INTO social_history VALUES (2, 2, 2, '"أثير 2"', '"أثير 2"', '"أثير 2"');
INSERT OR REPLACE INTO social_votes VALUES (1, X'01FF', -1, 1, X'01FF', X'01FF', 1);
INSERT OR REPLACE INTO social_votes VALUES (2, X'02FF', 1, 2, X'02FF', X'02FF', 2);
INSERT OR REPLACE INTO social_voters VALUES (X'01FF', X'01FF', 1, 1, X'01FF');
INSERT OR REPLACE INTO social_voters VALUES (X'02FF', X'02FF', 2, 2, X'02FF');
INSERT OR REPLACE INTO social_reactions VALUES (1, X'01FF', '"أثير 1"', X'01FF', X'01FF', 1);
INSERT OR REPLACE INTO social_reactions VALUES (2, X'02FF', '"أثير 2"', X'02FF', X'02FF', 2);
INSERT OR REPLACE INTO social_reports VALUES (1, X'01FF', X'01FF', 1, '"أثير 1"', '"أثير 1"', 1, X'01FF');
INSERT OR REPLACE INTO social_reports VALUES (2, X'02FF', X'02FF', 2, '"أثير 2"', '"أثير 2"', 2, X'02FF');
INSERT OR REPLACE INTO social_submitters VALUES (X'01FF', 1, 1);
INSERT OR REPLACE INTO social_submitters VALUES (X'02FF', 2, 2);
INSERT OR REPLACE INTO social_state VALUES (1, X'01FF');
