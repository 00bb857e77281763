import type { OwnSchema, SchemaStep } from '../workspace/own-schema.ts'
import { collectFound } from './collect-found.ts'
import { markJoinedRows } from './mark-joined-rows.ts'

/**
 * The journal's schema, step by step. `PRAGMA user_version` holds the number of steps that a file has gone
 * through. Never edit a released step: append a new one.
 */
export const MIGRATIONS: readonly SchemaStep[] = [
  `
  -- One row: the run itself. claimed is the watermark: every item at or below it may have been
  -- sent. items and claimed_rows are how many; rows_read counts invalid rows too.
  CREATE TABLE run (
    run_id TEXT NOT NULL,
    run_token TEXT NOT NULL,
    parent_run_id TEXT,
    superseded_by TEXT,
    unknown_taken_by TEXT,
    name TEXT NOT NULL,
    plan TEXT NOT NULL,
    columns TEXT NOT NULL DEFAULT '[]',
    state TEXT NOT NULL DEFAULT 'intake',
    stop_reason TEXT,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    sending_ms INTEGER NOT NULL DEFAULT 0,
    rows_read INTEGER NOT NULL DEFAULT 0,
    items INTEGER NOT NULL DEFAULT 0,
    claimed INTEGER NOT NULL DEFAULT 0,
    claimed_rows INTEGER NOT NULL DEFAULT 0,
    -- Where callbacks and media are reached, and how far the inbox was read; null and 0 where there are none.
    callback_base TEXT,
    media_base TEXT,
    inbox_read INTEGER NOT NULL DEFAULT 0,
    app_version TEXT NOT NULL
  ) STRICT;

  -- A record of the source. item is the first row of the item that carries it; null where the row is invalid.
  CREATE TABLE row (id INTEGER PRIMARY KEY, cells TEXT NOT NULL, item INTEGER) STRICT;
  CREATE INDEX row_invalid ON row (id) WHERE item IS NULL;

  CREATE TABLE problem (
    id INTEGER PRIMARY KEY,
    row INTEGER NOT NULL,
    severity TEXT NOT NULL,
    code TEXT NOT NULL,
    field TEXT,
    message TEXT NOT NULL,
    found TEXT
  ) STRICT;
  CREATE INDEX problem_by_row ON problem (row);

  -- What became of a row. None here: pending above the watermark, possibly sent at or below it. The rows of an item
  -- are sent together and may end apart; the answer stands at the item's first row.
  CREATE TABLE result (
    row INTEGER PRIMARY KEY,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    status INTEGER,
    error_code TEXT,
    message TEXT,
    task_id TEXT,
    duration_us INTEGER,
    response TEXT,
    custom_index_item_id TEXT,
    answer TEXT,
    acknowledged_at INTEGER,
    callback_us INTEGER
  ) STRICT;
  CREATE INDEX result_by_state ON result (state, row);
  CREATE INDEX result_by_error ON result (error_code, row) WHERE error_code IS NOT NULL;
  CREATE INDEX result_by_answer ON result (answer, row) WHERE answer IS NOT NULL;
  CREATE INDEX result_by_acknowledgement ON result (acknowledged_at) WHERE state = 'acknowledged';

  -- Callbacks as they were taken in; id is the inbox's, effect is settled, doubled,
  -- unreadable or mismatched.
  CREATE TABLE callback (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL,
    received_at_us INTEGER NOT NULL,
    latency_us INTEGER,
    effect TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX callback_by_item ON callback (item);

  CREATE TABLE attempt (
    item INTEGER NOT NULL,
    number INTEGER NOT NULL,
    sent_at_us INTEGER,
    outcome TEXT NOT NULL,
    status INTEGER,
    error_code TEXT,
    message TEXT,
    duration_us INTEGER,
    waiting_us INTEGER,
    connect_us INTEGER,
    tls_us INTEGER,
    PRIMARY KEY (item, number)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE rule (id INTEGER PRIMARY KEY, rule_id TEXT NOT NULL UNIQUE, rule_name TEXT NOT NULL) STRICT;
  CREATE TABLE row_rule (
    rule INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (rule, row)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX row_rule_by_row ON row_rule (row, rule);
  CREATE TABLE row_class (
    row INTEGER NOT NULL, class TEXT NOT NULL, score REAL NOT NULL, PRIMARY KEY (row, class)
  ) STRICT, WITHOUT ROWID;

  -- Counters, kept in the transactions that change what they count, so that no reader ever has to scan.
  CREATE TABLE facet (
    kind TEXT NOT NULL, value TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (kind, value)
  ) STRICT, WITHOUT ROWID;

  -- One row for each second in which something was sent or ended; at is Unix seconds. Histograms are HDR, microseconds.
  CREATE TABLE second (
    at INTEGER PRIMARY KEY,
    sent INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    unknown INTEGER NOT NULL,
    event_loop_max_us INTEGER,
    generator_limited INTEGER NOT NULL DEFAULT 0,
    http_req_duration TEXT,
    http_req_waiting TEXT,
    http_req_connecting TEXT,
    http_req_tls_handshaking TEXT,
    response_time TEXT,
    start_lag TEXT,
    callback_latency TEXT,
    -- JSON of a load test's second; null of other runs.
    extras TEXT
  ) STRICT;

  -- A load test as a whole, its groups of requests, and those that were kept whole.
  CREATE TABLE load (id INTEGER PRIMARY KEY, state TEXT NOT NULL) STRICT;
  CREATE TABLE load_group (
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    requests INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    histogram TEXT,
    PRIMARY KEY (kind, value)
  ) STRICT;
  CREATE TABLE sample (slot INTEGER PRIMARY KEY, document TEXT NOT NULL) STRICT;

  -- All seconds added up, while nobody is sending: what a list of runs reads. Empty where the seconds must be read.
  CREATE TABLE latency (series TEXT PRIMARY KEY, histogram TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  -- Answers and callbacks that are too long to stand in result and callback, compressed; id is the row's or the
  -- callback's. bytes is the length as it came, which content may have been cut from.
  CREATE TABLE long_answer (id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, content BLOB NOT NULL) STRICT;
  CREATE TABLE long_callback (id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, content BLOB NOT NULL) STRICT;

  -- The header as the source has it, a JSON array; null where there was none, or nobody noted it.
  ALTER TABLE run ADD COLUMN header TEXT;

  -- What each cell was in a JSON source, a letter each: s text, j other JSON, n null, - missing. Null where all are text.
  ALTER TABLE row ADD COLUMN kinds TEXT;
  `,
  `
  -- Items whose tries in a parent run may have been taken, though no answer came.
  CREATE TABLE lost_try (item INTEGER PRIMARY KEY) STRICT;
  `,
  `
  -- Where rows stand in the source, from a row on until the next entry: the row that a spreadsheet shows, and the line
  -- of a text file. Rows before the first entry, and all of a folder, are their own number.
  CREATE TABLE row_place (row INTEGER PRIMARY KEY, sheet_row INTEGER NOT NULL, line INTEGER) STRICT;
  `,
  `
  -- What the words of a problem's code take, JSON objects: args of the cause, details of the row alone. Both are null
  -- where they take nothing. message is then empty; it holds the words of what an earlier version stored. The counter
  -- of a cause has args in the place of those words.
  ALTER TABLE problem ADD COLUMN args TEXT;
  ALTER TABLE problem ADD COLUMN details TEXT;
  `,
  `
  -- Fingerprint of the source when it was read, a JSON object; null if it could not be determined or was not recorded.
  ALTER TABLE run ADD COLUMN source_fingerprint TEXT;
  `,
  `
  -- The retry that took the rows over that were never sent, since they were invalid or left out; and whether this run is
  -- such a retry, which checks its rows again. Of a row of a JSON source or of one that was split, kinds may end in
  -- #text, or #url and the number of the record: the halves of a record with text and a url.
  ALTER TABLE run ADD COLUMN invalid_taken_by TEXT;
  ALTER TABLE run ADD COLUMN corrects INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- What to do about stop_reason; null where there is nothing, or where an earlier version wrote it into stop_reason.
  ALTER TABLE run ADD COLUMN stop_advice TEXT;
  `,
  `
  -- The file that rows are from, from a row on until the next entry; empty unless the source has several files.
  CREATE TABLE source_file (row INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
  `,
  `
  -- How the source was read, a JSON array with an object for each file; null until it was read, and where an earlier
  -- version read it.
  ALTER TABLE run ADD COLUMN read_as TEXT;
  `,
  collectFound,
  markJoinedRows,
  `
  -- Hashes of what rows are recognized by when they are sent again, which only say where to look; see row-keys.ts. keys
  -- names the fields; hashes has 32 bits for each row from base on. What an earlier version read has none.
  CREATE TABLE row_key (
    keys TEXT NOT NULL, base INTEGER NOT NULL, hashes BLOB NOT NULL, PRIMARY KEY (keys, base)
  ) STRICT;
  `,
  `
  -- Of the requests of a second, the http_req_duration of those that succeeded; null in seconds of earlier versions.
  ALTER TABLE second ADD COLUMN succeeded_duration TEXT;
  `,
  `
  -- Answers to tries of an item that do not stand in result: a later try does, or a callback had settled the item. Long
  -- ones are compressed into content, as in long_answer. Earlier versions kept the last answer alone.
  CREATE TABLE try_answer (
    item INTEGER NOT NULL, number INTEGER NOT NULL, response TEXT, bytes INTEGER, content BLOB, PRIMARY KEY (item, number)
  ) STRICT;
  `,
  `
  -- Each time that a process took the run up; see sessions.ts. taken is how many rows a retry put back into the queue;
  -- requests, a JSON object, and sending_ms are the run's counters as the session began. The sessions of a run that an
  -- earlier version sent are one.
  CREATE TABLE session (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    host TEXT,
    app_version TEXT NOT NULL,
    options TEXT NOT NULL,
    taken INTEGER NOT NULL,
    requests TEXT NOT NULL,
    sending_ms INTEGER NOT NULL
  ) STRICT;
  INSERT INTO session SELECT 1,
    CASE WHEN corrects = 1 THEN 'correction' WHEN parent_run_id IS NOT NULL THEN 'retry' ELSE 'start' END,
    created_at, ended_at, NULL, app_version, '{}', 0, '{}', 0 FROM run;

  -- How rows stood that a retry put back into the queue, by the session that did. A callback that had settled such a row
  -- has the effect settled_before from then on.
  CREATE TABLE earlier (
    row INTEGER NOT NULL,
    session INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    status INTEGER,
    error_code TEXT,
    message TEXT,
    task_id TEXT,
    duration_us INTEGER,
    answer TEXT,
    acknowledged_at INTEGER,
    callback_us INTEGER,
    PRIMARY KEY (row, session)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- A journal that is handed on names no machine.
  ALTER TABLE session DROP COLUMN host;
  `,
  `
  -- The fixes of the plan up to each session that corrected rows with others, a JSON array; null where none did. The kinds
  -- of a row end in #fix and the number of the session by whose fixes it is mapped; without it, by those of the first.
  ALTER TABLE run ADD COLUMN earlier_fixes TEXT;
  -- The kinds that a row had before a correction, '' where it had none; null where a retry changed nothing of it.
  ALTER TABLE earlier ADD COLUMN kinds TEXT;
  `,
  `
  -- The item that a row was sent with before a correction; null where it is the row's own, or a retry changed nothing of it.
  ALTER TABLE earlier ADD COLUMN sent_item INTEGER;
  CREATE INDEX earlier_by_item ON earlier (sent_item) WHERE sent_item IS NOT NULL;
  -- The rows of an item but its first; those of another may stand between them after a correction.
  CREATE INDEX row_joined ON row (item) WHERE item <> id;
  `,
]

/** Creates the index of the tasks of rows, unless it is there. */
export const CREATE_TASK_INDEX =
  'CREATE INDEX IF NOT EXISTS result_by_task ON result (task_id) WHERE task_id IS NOT NULL'

/**
 * All that a journal may consist of; one with anything else is not opened. Indexes that come and go, and
 * columns added during a run, have their patterns here.
 */
export const JOURNAL_SCHEMA: OwnSchema = {
  steps: MIGRATIONS,
  // Scores of classes, see `found-writer.ts`; trace contexts of tries, see `traces.ts`.
  columns: { found: /^s[1-9]\d* REAL$/, attempt: /^traceparent TEXT$/ },
  indexes: /^CREATE INDEX result_by_task ON result \( task_id \) WHERE task_id IS NOT NULL$/,
}
