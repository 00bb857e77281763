import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { type Plan, type PlanInput, planSchema } from '../../src/shared/plan/plan.ts'

/** Creates a folder for all tests of a file, removed after them. */
export function openTestFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'sluice-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

let sources = 0

/** Writes a CSV source with this many rows, or with these texts, and creates a plan that retries at once. */
export function createRunPlan(
  folder: string,
  rows: number | readonly string[],
  baseUrl: string,
  parts: Partial<PlanInput> = {},
): Plan {
  const texts = typeof rows === 'number' ? Array.from({ length: rows }, (_, i) => `text ${i + 1}`) : rows
  sources += 1
  const path = join(folder, `source-${sources}.csv`)
  writeFileSync(path, `text_data,user_id\n${texts.map((text, i) => `${text},user${i % 7}\n`).join('')}`)
  return planSchema.parse({
    connection: { baseUrl, timeoutMs: 2_000 },
    source: { path },
    operation: { kind: 'task' },
    retry: { limit: 3, baseMs: 1, maxMs: 5, maxRetryAfterMs: 40 },
    ...parts,
  })
}
