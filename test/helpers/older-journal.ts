import { readScoreClasses, visitScores } from '../../src/main/engine/journal/found-reader.ts'
import type { DatabaseSync } from '../../src/main/engine/workspace/sqlite.ts'

/** Number of schema steps before the content of answers was stored in one record per row. */
export const STEPS_BEFORE_FOUND = 10

/** Gives a journal the tables of an earlier version: a record for each rule and each score of a row. */
export function takeFoundBack(db: DatabaseSync): void {
  const scores: [number, string, number][] = []
  if (readScoreClasses(db).length > 0) {
    visitScores(db, { sql: 'true', params: [] }, (...score) => scores.push(score))
  }
  db.exec(`BEGIN;
    CREATE TABLE row_rule (rule INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (rule, row)) STRICT, WITHOUT ROWID;
    CREATE INDEX row_rule_by_row ON row_rule (row, rule);
    CREATE TABLE row_class (
      row INTEGER NOT NULL, class TEXT NOT NULL, score REAL NOT NULL, PRIMARY KEY (row, class)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO row_rule (rule, row) SELECT own.value, found.row FROM found
      JOIN term ON term.kind = 'rules' AND term.id = found.rules JOIN json_each(term.value) AS own;
    DROP TABLE found;
    DROP TABLE term;
    DROP TABLE row_key;
    DROP TABLE try_answer;
    DROP TABLE session;
    DROP TABLE earlier;
    DROP INDEX row_joined;
    ALTER TABLE second DROP COLUMN succeeded_duration;
    ALTER TABLE run DROP COLUMN earlier_fixes;
    PRAGMA user_version = ${STEPS_BEFORE_FOUND}`)
  const insert = db.prepare('INSERT INTO row_class (row, class, score) VALUES (?, ?, ?)')
  for (const score of scores) insert.run(...score)
  db.exec('COMMIT')
}
