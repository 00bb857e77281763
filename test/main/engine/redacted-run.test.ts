import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { openEngine } from '../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../helpers/test-folder.ts'
import { runInProcess } from '../cli/run-in-process.ts'

const folder = openTestFolder()
const engine = openEngine(folder)

const RULES = [{ rule_id: 'rule-of-names', rule_name: 'Names-of-others' }]

/** Runs ten rows with a key, and exports them. */
async function runUnder(apiKey: string) {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request, RULES)),
  })
  const run = await engine.runs.startRun(createRunPlan(folder, 10, server.baseUrl), { apiKey })
  const summary = await run.ended
  const file = join(folder, `${run.runId}.jsonl`)
  expect((await runInProcess(['export', run.runId, file], { workspace: folder })).code).toBe(0)
  const exported = readFileSync(file, 'utf8')
  const columns = exported
    .trim()
    .split('\n')
    .map((line) => Object.keys(JSON.parse(line) as object))
  return { summary, exported, columns, runId: run.runId }
}

test('a run has the same results and columns whichever word of the answers its key is, and says what was removed', async () => {
  const usual = await runUnder('a-key-of-none-of-them')
  expect(usual.summary.warnings).toEqual([])
  for (const key of ['triggered_rules', 'rule-of-names']) {
    const { summary, columns, exported, runId } = await runUnder(key)
    expect({ key, rows: summary.rows }).toEqual({ key, rows: usual.summary.rows })
    expect(summary.triggered_rules.map(({ rows }) => rows)).toEqual([10])
    expect(columns).toEqual(usual.columns)
    if (key === 'triggered_rules') {
      expect(summary.warnings).toEqual([])
      continue
    }
    expect(summary.warnings).toEqual([
      {
        code: 'ANSWERS_REDACTED',
        message: expect.stringMatching(
          /^The API key or proxy password was in 10 answers and is stored as \[redacted\]/,
        ),
      },
    ])
    expect(exported).not.toContain(key)
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
      (one) => one.isFile() && one.parentPath.concat(one.name).includes(runId),
    )
    expect(files.length).toBeGreaterThan(0)
    for (const { parentPath, name } of files) {
      expect(readFileSync(join(parentPath, name)).includes(key), name).toBe(false)
    }
  }
})
