import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { reportToParent } from '../lib/report-to-parent.ts'
import { withFolder } from '../lib/workspace.ts'

/** Rows per commit, about as many as a slow run has in 50 ms. */
const ROWS = 20

const { level, commits } = JSON.parse(process.argv[2] ?? '') as { level: string; commits: number }

const microseconds = await withFolder(async (folder) => {
  const db = new DatabaseSync(join(folder, 'durability.db'))
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${level}`)
  db.exec('CREATE TABLE outcome (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT')
  const insert = db.prepare('INSERT INTO outcome (text) VALUES (?)')
  const startMs = performance.now()
  for (let commit = 0; commit < commits; commit += 1) {
    db.exec('BEGIN IMMEDIATE')
    for (let row = 0; row < ROWS; row += 1) insert.run('x'.repeat(200))
    db.exec('COMMIT')
  }
  const us = ((performance.now() - startMs) * 1000) / commits
  db.close()
  return us
})
reportToParent(microseconds)
