-- What earlier runs learned, one file a user (docs/rewrites.md). No source text, and no name of a kernel, file or argument.
CREATE TABLE IF NOT EXISTS trial (
    id INTEGER PRIMARY KEY,    -- in the order of writing
    kernel TEXT NOT NULL,      -- hash of the original's text and workloads
    device TEXT NOT NULL,
    basis TEXT NOT NULL,       -- measured or modelled
    version TEXT NOT NULL,     -- hash of the version that the steps were tried on
    features TEXT NOT NULL,    -- of that version, JSON
    candidate TEXT NOT NULL,   -- hash of what came of it
    steps TEXT NOT NULL,       -- JSON: transforms with their settings
    verdict TEXT NOT NULL,
    gain REAL,                 -- over the version
    noted TEXT NOT NULL,       -- UTC
    UNIQUE (kernel, device, basis, version, candidate)
) STRICT;
PRAGMA application_id = 1095980109; -- "ASTM"
PRAGMA user_version = 1;
