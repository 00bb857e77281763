import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlanInput } from '../../../src/shared/plan.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

/** Writes a source of that many rows, whose texts the sandbox finds nothing in. */
export function writeRows(count: number, name = 'posts.csv'): string {
  const lines = Array.from({ length: count }, (_, i) => `hello number ${i + 1},user-${i + 1},post-${i + 1}`)
  return writeText(`text_data,user_id,post_id\n${lines.join('\n')}\n`, name)
}

/** Writes a source with exactly that text. */
export function writeText(text: string, name = 'posts.csv'): string {
  const file = join(createTemporaryFolder(), name)
  writeFileSync(file, text)
  return file
}

/** A plan that submits a source whose columns have the names of the fields. */
export function createPlan(path: string, baseUrl: string, more: Partial<PlanInput> = {}): PlanInput {
  return { connection: { baseUrl }, source: { path }, operation: { kind: 'task' }, ...more }
}
