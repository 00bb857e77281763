import { expect, test } from 'vitest'
import { collectFound } from '../../../../src/main/engine/journal/collect-found.ts'
import {
  betweenRows,
  createNameReader,
  listScoreClasses,
  visitScores,
} from '../../../../src/main/engine/journal/found-reader.ts'
import { openJournal } from '../../../../src/main/engine/journal/journal.ts'
import { MIGRATIONS } from '../../../../src/main/engine/journal/migrations.ts'
import { packBody } from '../../../../src/main/engine/journal/stored-bodies.ts'
import { OutcomeWriter } from '../../../../src/main/engine/run/recorder.ts'
import { takeSchemaSteps } from '../../../../src/main/engine/workspace/own-schema.ts'
import type { DatabaseSync } from '../../../../src/main/engine/workspace/sqlite.ts'
import { createRandom } from '../../../../src/shared/lookback/seeded-random.ts'
import { readAnswerNames } from '../../../../src/shared/service/answer-findings.ts'
import { STEPS_BEFORE_FOUND, takeFoundBack } from '../../../helpers/older-journal.ts'
import { openReadyJournal, RULES_OF_ROWS, toAttempt } from './test-journal.ts'

const ROWS = 2_500

/** Closes a journal whose rows have random rules, scores and names, and returns its file. */
function writeJournal({ classes }: { classes: number }): string {
  const journal = openReadyJournal(ROWS)
  const outcomes = new OutcomeWriter(journal)
  const random = createRandom(7)
  const records = Array.from({ length: ROWS }, (_, index) => {
    const rules = ['r1', 'r2', 'r3'].filter(() => random() < 0.2)
    const named = Array.from({ length: Math.floor(random() * 3) }, () => Math.floor(random() * classes))
    const languages = ['EN', 'DE'].filter(() => random() < 0.3)
    const answer = JSON.stringify({
      from_cache: random() < 0.1,
      text: random() < 0.1 ? 'long '.repeat(500) : '',
      status: languages.map((language) => ({
        status: { code: '0' },
        response: { input: { model: `model-${Math.floor(random() * 3)}` }, language },
      })),
    })
    return toAttempt(index + 1, {
      response: packBody(answer),
      rules: rules.map((ruleId) => ({ ruleId, ruleName: `rule ${ruleId}` })),
      classes: [...new Set(named)].map((name) => ({ className: `class ${name}`, score: random() })),
      names: readAnswerNames(answer, () => JSON.parse(answer)),
    })
  })
  journal.transact('process', () => outcomes.write(records))
  journal.close()
  return journal.file
}

function readFound(db: DatabaseSync) {
  const scores: string[] = []
  visitScores(db, betweenRows([0, ROWS]), (...score) => scores.push(JSON.stringify(score)))
  const [toLanguages, toModels] = [createNameReader(db, 'language'), createNameReader(db, 'model')]
  const named = db
    .prepare('SELECT row, cached, language, model FROM found ORDER BY row')
    .all()
    .map(({ row, cached, language, model }) => [
      row,
      cached,
      language === null ? [] : toLanguages(Number(language)),
      model === null ? [] : toModels(Number(model)),
    ])
  const rules = db.prepare(`SELECT row, rule_id, rule_name FROM ${RULES_OF_ROWS} ORDER BY row, rule_id`).all()
  return { scores: scores.sort(), named, rules }
}

function reopen(file: string, work: (db: DatabaseSync) => void): void {
  const db = openJournal(file)
  try {
    work(db)
  } finally {
    db.close()
  }
}

test.each([
  { classes: 6, what: 'few' },
  { classes: 1_000, what: 'more classes than have columns' },
])('a migrated journal says the same of each row, with $what', ({ classes }) => {
  const file = writeJournal({ classes })
  let before: ReturnType<typeof readFound> | null = null
  reopen(file, (db) => {
    before = readFound(db)
    takeFoundBack(db)
    expect(db.prepare('SELECT count(*) AS n FROM row_rule').get()?.['n']).toBe(before.rules.length)
  })
  reopen(file, (db) => {
    expect(readFound(db)).toEqual(before)
    expect(db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'row_%'").all()).toEqual(
      expect.not.arrayContaining([{ name: 'row_rule' }, { name: 'row_class' }]),
    )
  })
})

test('a journal whose migration fails is left unchanged, and migrated later', () => {
  const file = writeJournal({ classes: 6 })
  let before: ReturnType<typeof readFound> | null = null
  reopen(file, (db) => {
    before = readFound(db)
    takeFoundBack(db)
    const cutOff = (own: DatabaseSync) => {
      collectFound(own)
      throw new Error('the power of the test')
    }
    const steps = [...MIGRATIONS.slice(0, STEPS_BEFORE_FOUND), cutOff]
    expect(() => takeSchemaSteps(db, { steps }, () => new Error('too new'))).toThrow('the power of the test')
    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: STEPS_BEFORE_FOUND })
    expect(db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'found'").get()).toBeUndefined()
  })
  reopen(file, (db) => expect(readFound(db)).toEqual(before))
})

test('a class whose name is too long for a column is listed with those that have one', () => {
  const journal = openReadyJournal(2)
  const outcomes = new OutcomeWriter(journal)
  const long = 'x'.repeat(2_000)
  const write = (row: number, className: string) =>
    journal.transact('process', () =>
      outcomes.write([toAttempt(row, { classes: [{ className, score: 0.5 }] })]),
    )
  write(1, 'short')
  expect(listScoreClasses(journal.db, 10)).toEqual(['short'])
  write(2, long)
  expect(listScoreClasses(journal.db, 10)).toEqual(['short', long])
  journal.close()
})
