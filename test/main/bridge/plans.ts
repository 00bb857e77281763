import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BridgeServices } from '../../../src/main/bridge/bridge-context.ts'
import type { RunRequestInput } from '../../../src/shared/bridge/runs.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

/** Writes a source with that many rows; the sandbox finds nothing in their texts. */
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

/** A page's request to submit a chosen file whose columns are named like the fields. */
export async function createRequest(
  { sources }: Pick<BridgeServices, 'sources'>,
  path: string,
  baseUrl: string,
  more: Partial<RunRequestInput> = {},
): Promise<RunRequestInput> {
  const { sourceId } = await sources.add(path)
  return {
    destination: { kind: 'service', baseUrl },
    source: { sourceId },
    operation: { kind: 'task' },
    ...more,
  }
}
