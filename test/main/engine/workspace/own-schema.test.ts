import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import {
  findForeign,
  type OwnSchema,
  takeSchemaSteps,
} from '../../../../src/main/engine/workspace/own-schema.ts'

const SCHEMA: OwnSchema = {
  steps: [
    `-- What was found.
     CREATE TABLE found (
       row INTEGER PRIMARY KEY,
       -- Empty unless known.
       language TEXT NOT NULL DEFAULT '--'
     ) STRICT;`,
    'ALTER TABLE found ADD COLUMN model TEXT; CREATE TABLE term (id INTEGER PRIMARY KEY) STRICT;',
  ],
  columns: { found: /s\d+ REAL/ },
  indexes: /^CREATE INDEX found_\w+ ON found \( \w+( , \w+)* \)$/,
}

function openFile(...statements: string[]): DatabaseSync {
  const db = new DatabaseSync(':memory:', { defensive: false })
  onTestFinished(() => db.close())
  takeSchemaSteps(db, SCHEMA, () => new Error('too new'))
  for (const sql of statements) db.exec(sql)
  return db
}

test('a file of the newest or an earlier version is recognised as ours, and so is an empty one', () => {
  expect(findForeign(openFile(), SCHEMA)).toBeNull()
  const earlier = new DatabaseSync(':memory:')
  onTestFinished(() => earlier.close())
  expect(findForeign(earlier, SCHEMA)).toBeNull()
  takeSchemaSteps(earlier, { steps: SCHEMA.steps.slice(0, 1) }, () => new Error('too new'))
  expect(findForeign(earlier, SCHEMA)).toBeNull()
})

test('comments and white space of a step may change after it was applied', () => {
  const steps = [
    `CREATE TABLE found (row INTEGER PRIMARY KEY, /* once
     */ language TEXT NOT NULL DEFAULT '--') STRICT;`,
    SCHEMA.steps[1] ?? '',
  ]
  expect(findForeign(openFile(), { ...SCHEMA, steps })).toBeNull()
})

test.each([
  [
    'columns that are added as a run goes on',
    'ALTER TABLE found ADD COLUMN s1 REAL; ALTER TABLE found ADD COLUMN s12 REAL',
  ],
  ['indexes that come and go', 'CREATE INDEX found_wide ON found (language, model)'],
  [
    'an index over an added column',
    'ALTER TABLE found ADD COLUMN s1 REAL; CREATE INDEX found_s1 ON found (s1)',
  ],
])('%s belong to a file', (_, sql) => {
  const db = openFile(sql)
  expect(findForeign(db, SCHEMA)).toBeNull()
  // The second call takes the path for known files.
  expect(findForeign(db, SCHEMA)).toBeNull()
})

test.each([
  ['ALTER TABLE found ADD COLUMN s1 REAL AS (hex(row))', 'its table found is not the one that Sluice makes'],
  ['ALTER TABLE found ADD COLUMN s1 REAL CHECK (s1 > 0)', 'its table found is not the one that Sluice makes'],
  ['ALTER TABLE found ADD COLUMN t1 REAL', 'its table found is not the one that Sluice makes'],
  ['ALTER TABLE found DROP COLUMN model', 'its table found is not the one that Sluice makes'],
  ['ALTER TABLE term ADD COLUMN s1 REAL', 'its table term is not the one that Sluice makes'],
  ['CREATE INDEX found_s1 ON found (hex(row))', 'it has the index found_s1'],
  ['CREATE INDEX found_s1 ON found (row) WHERE hex(row) = 1', 'it has the index found_s1'],
  ['CREATE INDEX found_s1 ON term (id)', 'it has the index found_s1'],
  ['CREATE INDEX term_by_id ON term (id)', 'it has the index term_by_id'],
  ['CREATE VIEW other AS SELECT 1', 'it has the view other'],
  ['CREATE TABLE "term;" (id)', 'it has the table term;'],
  ['DROP TABLE term', 'it lacks the table term'],
  ['DROP TABLE found; CREATE VIEW found AS SELECT 1 AS row', 'it has the view found'],
  ['PRAGMA user_version = 1', 'its table found is not the one that Sluice makes'],
  ['PRAGMA user_version = 0', 'it has the table found'],
  ['PRAGMA user_version = -1', 'it has the table found'],
])('a file is foreign after %s', (sql, foreign) => {
  expect(findForeign(openFile(sql), SCHEMA)).toBe(foreign)
})

test('quoted text is not a comment', () => {
  const db = openFile(
    `PRAGMA writable_schema = 1;
     UPDATE sqlite_schema SET sql = replace(sql, '''--''', '''-- x'' || hex(zeroblob(9)) || ''') WHERE name = 'found'`,
  )
  expect(findForeign(db, SCHEMA)).toBe('its table found is not the one that Sluice makes')
})
