import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine } from '../../src/main/engine/engine.ts'
import { createEngine } from '../../src/main/engine/engine.ts'
import { ApiKey } from '../../src/main/engine/secrets/bound-secret.ts'
import type { Plan } from '../../src/shared/plan/plan.ts'

/** Creates a folder, passes it on, and removes it. */
export async function withFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The engine, from sources or from the bundle, whichever is running. */
export function createBenchEngine(workspace: string): Engine {
  return createEngine({ workspace })
}

/** Reads and checks a source into a run that is stopped before it sends anything, and measures the time. */
export async function takeIn(engine: Engine, plan: Plan) {
  const startMs = performance.now()
  const run = await engine.runs.startRun(plan, {
    apiKey: ApiKey.create('key', plan.connection, 'of the benchmark'),
    hold: true,
  })
  await run.ready
  const ms = performance.now() - startMs
  run.stop()
  const { rows } = await run.ended
  return { ms, rows, runId: run.runId }
}

const WORDS = 'thank you for the quick answer about my order it never came and nobody wrote back'.split(' ')

/** Writes a CSV file of posts, about 114 bytes per row; the same number of rows gives the same file. */
export function writeSource(file: string, rows: number): void {
  const descriptor = openSync(file, 'w')
  writeSync(descriptor, 'post_id,user_id,text_data,label\n')
  let chunk = ''
  for (let row = 1; row <= rows; row += 1) {
    const text = Array.from({ length: 14 }, (_, i) => WORDS[(row * 7 + i * 3) % WORDS.length]).join(' ')
    chunk += `post-${row},user${row % 9973},"${text}, ${row}",${row % 8 === 0 ? 'spam' : 'ham'}\n`
    if (chunk.length > 1_000_000 || row === rows) {
      writeSync(descriptor, chunk)
      chunk = ''
    }
  }
  closeSync(descriptor)
}
