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
    wall_s REAL
) STRICT;

CREATE INDEX IF NOT EXISTS candidate_hash ON candidate (hash);

-- One row a candidate, workload and regime; unknown figures are NULL.
CREATE TABLE IF NOT EXISTS workload (
    candidate INTEGER NOT NULL REFERENCES candidate (id),
    dims TEXT NOT NULL,
    regime TEXT NOT NULL CHECK (regime IN ('cold', 'hot')),
    us REAL,
    light_us REAL,
    bound TEXT,
    PRIMARY KEY (candidate, dims, regime)
) STRICT;

CREATE TABLE IF NOT EXISTS diagnosis (
    candidate INTEGER PRIMARY KEY REFERENCES candidate (id),
    bound_by TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
