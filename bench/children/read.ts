import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Papa from 'papaparse'
import { planSchema } from '../../src/shared/plan/plan.ts'
import { reportToParent } from '../lib/report-to-parent.ts'
import { createBenchEngine, takeIn } from '../lib/workspace.ts'

const task = JSON.parse(process.argv[2] ?? '') as { kind: 'papaparse' | 'intake'; path: string }
reportToParent(task.kind === 'papaparse' ? await readAlone(task.path) : await readIntoJournal(task.path))

/** Papa.parse on a stream, only counting rows. */
function readAlone(path: string): Promise<{ ms: number; rows: number }> {
  const startMs = performance.now()
  let rows = -1
  return new Promise((resolve, reject) => {
    Papa.parse<string[]>(createReadStream(path, { encoding: 'utf8' }), {
      chunk: ({ data }: Papa.ParseResult<string[]>) => {
        rows += data.length
      },
      skipEmptyLines: true,
      complete: () => resolve({ ms: performance.now() - startMs, rows }),
      error: reject,
    })
  })
}

/** A run that is held before it sends anything: the whole intake, with a journal on disk. */
async function readIntoJournal(path: string): Promise<{ ms: number; rows: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const engine = createBenchEngine(folder)
  const plan = planSchema.parse({
    connection: { baseUrl: 'http://127.0.0.1:9' },
    source: { path },
    operation: { kind: 'task' },
  })
  const { ms, rows } = await takeIn(engine, plan)
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
  return { ms, rows: rows.read - rows.invalid }
}
