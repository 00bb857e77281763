import { isAsync, type Operation } from '../../../shared/operations/operations.ts'
import { readAnswerNames } from '../../../shared/service/answer-findings.ts'
import { parseJson } from '../../../shared/service/parse-json.ts'
import { BulkInsert, type DatabaseSync, readNumber, readValues } from '../workspace/sqlite.ts'
import { addScoreColumn, Terms, toScoreColumn } from './found-writer.ts'
import { readStoredBody } from './stored-bodies.ts'

/** Rows whose answers are read at a time. */
const STEP_ROWS = 2_000

const TABLES = `
  -- What is numbered, by kind: rules (a JSON array of rule.id), language and model (a JSON array of texts), class (its
  -- name).
  CREATE TABLE term (
    kind TEXT NOT NULL, id INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, id), UNIQUE (kind, value)
  ) STRICT, WITHOUT ROWID;

  -- What the last answer to a row, or the callback that settled it, says of its content; no record if that is nothing.
  -- rules is the number of a set, 0 for none; cached is 1 or null; language and model are the numbers of sets. The scores
  -- of the class with number n stand in column sn, which is added when the class first comes; those of classes beyond
  -- them in further_scores, a JSON array of pairs. Not STRICT: SQLite would read the whole table for each new column.
  CREATE TABLE found (
    row INTEGER PRIMARY KEY,
    rules INTEGER NOT NULL,
    cached INTEGER,
    language INTEGER,
    model INTEGER,
    further_scores TEXT
  );`

const INDEX = 'CREATE INDEX found_by_rules ON found (rules) WHERE rules <> 0'

/**
 * Creates the tables of findings and fills them from the tables of earlier versions (a record for each rule
 * and score of a row) and from the answers. The caller has a transaction open.
 */
export function collectFound(db: DatabaseSync): void {
  db.exec(TABLES)
  const terms = new Terms(db)
  collectNames(db, terms)
  collectScores(db, terms)
  collectRules(db, terms)
  db.exec(`DROP TABLE row_rule; DROP TABLE row_class; ${INDEX}`)
}

/** Parses every answer that may contain names. */
function collectNames(db: DatabaseSync, terms: Terms): void {
  const plan = db.prepare('SELECT plan FROM run').get()?.['plan']
  const operation =
    plan === undefined ? null : (JSON.parse(String(plan)) as { operation: Operation }).operation
  if (operation?.kind !== 'task') return
  const isOfCallbacks = isAsync(operation)
  // An answer to another row has the code ECHO_MISMATCH.
  const statement = db.prepare(
    isOfCallbacks
      ? `SELECT callback.item, body, content, bytes FROM callback LEFT JOIN long_callback ON long_callback.id = callback.id
         WHERE item > ? AND item <= ? AND effect = 'settled' ORDER BY item`
      : `SELECT result.row, response, content, bytes FROM result LEFT JOIN long_answer ON long_answer.id = result.row
         WHERE row > ? AND row <= ? AND error_code IS NOT 'ECHO_MISMATCH' ORDER BY row`,
  )
  statement.setReturnArrays(true)
  const insert = new BulkInsert(
    db,
    'INSERT OR REPLACE INTO found (row, rules, cached, language, model)',
    '(?, 0, ?, ?, ?)',
  )
  const last = readNumber(db, 'SELECT max(id) FROM row')
  for (let above = 0; above < last; above += STEP_ROWS) {
    const rows = statement.all(above, above + STEP_ROWS) as unknown as [number, unknown, unknown, unknown][]
    for (const [row, stored, content, bytes] of rows) {
      const text = readText(stored, content, bytes)
      if (text === null) continue
      const { fromCache, languages, models } = readAnswerNames(text, () => parseJson(text))
      const language = terms.ofNames('language', languages)
      const model = terms.ofNames('model', models)
      if (fromCache || language !== null || model !== null)
        insert.add(row, fromCache ? 1 : null, language, model)
    }
  }
  insert.flush()
}

/** Null also if the body is damaged; reading the row itself says so. */
function readText(...body: Parameters<typeof readStoredBody>): string | null {
  try {
    return readStoredBody(...body)?.text ?? null
  } catch {
    return null
  }
}

function collectScores(db: DatabaseSync, terms: Terms): void {
  const classes = readValues<string>(db, 'SELECT DISTINCT class FROM row_class').sort()
  const placed: { className: string; column: string }[] = []
  for (const className of classes) {
    const number = terms.ofClass(className)
    if (number === null) continue
    addScoreColumn(db, number)
    placed.push({ className, column: toScoreColumn(number) })
  }
  if (classes.length === 0) return
  const columns = placed.map(({ column }) => column)
  const values = placed.map(() => 'max(CASE WHEN class = ? THEN score END)')
  const names = placed.map(({ className }) => className)
  const isAnyFurther = placed.length < classes.length
  const further = `json_group_array(json_array(class, score)) FILTER (WHERE class NOT IN (${names.map(() => '?').join()}))`
  const all = [...columns, ...(isAnyFurther ? ['further_scores'] : [])]
  db.prepare(
    `INSERT INTO found (row, rules, ${all.join()})
     SELECT row, 0, ${[...values, ...(isAnyFurther ? [`nullif(${further}, '[]')`] : [])].join()}
     FROM row_class WHERE true GROUP BY row
     ON CONFLICT (row) DO UPDATE SET ${all.map((column) => `${column} = excluded.${column}`).join()}`,
  ).run(...names, ...(isAnyFurther ? names : []))
}

function collectRules(db: DatabaseSync, terms: Terms): void {
  const statement = db.prepare(
    'SELECT row, json_group_array(rule ORDER BY rule) FROM row_rule INDEXED BY row_rule_by_row WHERE row > ? AND row <= ? GROUP BY row',
  )
  statement.setReturnArrays(true)
  const insert = new BulkInsert(
    db,
    'INSERT INTO found (row, rules)',
    '(?, ?)',
    'ON CONFLICT (row) DO UPDATE SET rules = excluded.rules',
  )
  const last = readNumber(db, 'SELECT max(row) FROM row_rule INDEXED BY row_rule_by_row')
  for (let above = 0; above < last; above += STEP_ROWS) {
    for (const [row, rules] of statement.all(above, above + STEP_ROWS) as unknown as [number, string][]) {
      insert.add(row, terms.ofRules(JSON.parse(rules) as number[]))
    }
  }
  insert.flush()
}
