import { parentPort, workerData } from 'node:worker_threads'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import type { PlanSource } from '../../../../src/shared/plan/plan.ts'

const reader = await openSource(workerData as PlanSource)
let rows = 0
let characters = 0
let last = ''
for await (const batch of reader.batches()) {
  rows += batch.rows.length
  for (const { cells } of batch.rows) {
    for (const cell of cells) characters += cell.length
  }
  last = batch.rows.at(-1)?.cells.at(-1) ?? ''
}
reader.close()
parentPort?.postMessage({ rows, characters, last })
