-- One database a run, in the run's folder. Enough to rebuild every figure of the result and to go on after a stop.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;

CREATE TABLE IF NOT EXISTS meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS run (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    astra TEXT NOT NULL,
    task_name TEXT NOT NULL,
    task_dir TEXT NOT NULL,
    source_hash TEXT NOT NULL, -- SHA-256 of the original's text
    options TEXT NOT NULL,     -- JSON, as given
    started TEXT NOT NULL,     -- UTC
    ended TEXT,
    status TEXT NOT NULL CHECK (status IN ('running', 'done', 'interrupted', 'budget', 'failed')),
    wall_s REAL NOT NULL DEFAULT 0,
    result TEXT                -- result.json
) STRICT;

-- id 0 is the original.
CREATE TABLE IF NOT EXISTS candidate (
    id INTEGER PRIMARY KEY,
    parent INTEGER,
    round INTEGER NOT NULL,
    repairs INTEGER,           -- the failed candidate that this one repairs
    mind TEXT NOT NULL,
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    plan TEXT NOT NULL,
    steps TEXT NOT NULL,       -- JSON: what took effect
    text TEXT NOT NULL,
    hash TEXT NOT NULL,        -- of the normalised text
    verdict TEXT NOT NULL,
    words TEXT NOT NULL,
    line INTEGER NOT NULL DEFAULT 0,
    gain REAL,                 -- over the parent
    score REAL,                -- over the original, geometric mean
    trial TEXT,                -- JSON, whole
    wall_s REAL,
    bound_by TEXT,
    diagnosis TEXT
) STRICT;

CREATE INDEX IF NOT EXISTS candidate_hash ON candidate (hash);

-- Trials by the hash of their candidate's text, each from the moment it is known; a candidate gets its row when its
-- turn comes, which with several strategies at a time may be later.
CREATE TABLE IF NOT EXISTS trial (
    hash TEXT PRIMARY KEY,
    trial TEXT NOT NULL        -- JSON, whole
) STRICT;

-- Calls of models, in the order in which their replies came. A reply is here before anybody reads it.
CREATE TABLE IF NOT EXISTS call (
    id INTEGER PRIMARY KEY,
    label TEXT NOT NULL,       -- docs/models.md
    role TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE, -- SHA-256 of the label and the whole request
    request TEXT NOT NULL,     -- JSON: system, messages
    reply TEXT NOT NULL,       -- JSON, whole
    failed INTEGER NOT NULL,   -- no reply came
    started TEXT NOT NULL,     -- UTC
    tokens_in INTEGER NOT NULL,
    tokens_cached INTEGER,
    tokens_reasoning INTEGER,
    tokens_out INTEGER NOT NULL,
    estimated INTEGER NOT NULL, -- the tokens: the provider did not tell
    usd REAL,
    wall_s REAL NOT NULL
) STRICT;

-- What models were to work out, numbered in the order of labels.
CREATE TABLE IF NOT EXISTS strategy (
    id INTEGER PRIMARY KEY,
    label TEXT NOT NULL,       -- of its first call
    round INTEGER NOT NULL,
    parent INTEGER NOT NULL,
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    plan TEXT NOT NULL,
    expected_gain REAL,
    confidence REAL,
    outcome TEXT,              -- NULL while it is worked on
    candidate INTEGER          -- the last one made for it
) STRICT;
