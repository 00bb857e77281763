import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, inject, test } from 'vitest'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { openSourceFile } from '../../../../src/main/engine/source/source-file.ts'
import { sayExpected } from '../../../../src/shared/messages/problem-messages.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

/** More than 31 bits can hold. */
const TAIL_OFFSET = 2 ** 31 + 2 ** 20

/** Writes a sparse file whose middle takes no space on disk. */
function writeSparse(name: string, head: string, tail: string): string {
  const path = join(createTemporaryFolder(), name)
  const descriptor = openSync(path, 'w')
  writeSync(descriptor, head)
  ftruncateSync(descriptor, TAIL_OFFSET)
  writeSync(descriptor, tail, TAIL_OFFSET)
  closeSync(descriptor)
  return path
}

const hasSparseFiles = process.platform !== 'win32'

const writeRows = () => writeSparse('rows.jsonl', '{"a":"first"}\n{"a":"', '"}\n{"a":"last"}')

test.runIf(hasSparseFiles)('bytes beyond 2 GiB are read at their position', () => {
  const path = writeRows()
  const file = openSourceFile(path)
  expect(file.readBytes(TAIL_OFFSET + 2, 13).toString()).toBe('\n{"a":"last"}')
  file.close()
})

// The scan takes many seconds of processor time, so only `npm run test:long` runs it.
test.runIf(hasSparseFiles && inject('isLong'))('a file over 2 GiB is read to its last byte', async () => {
  const path = writeRows()
  const reader = await openSource(
    { path, header: true, encoding: 'utf-8' },
    { isPreview: true, readBytes: 2 ** 20 },
  )
  const rows = []
  let bytesRead = 0
  for await (const batch of reader.batches()) {
    rows.push(...batch.rows)
    bytesRead = batch.bytesRead
  }
  reader.close()
  expect(rows.map(({ cells }) => cells)).toEqual([['first'], [], ['last']])
  expect(rows[1]?.problems.map((problem) => sayExpected(problem, 'terminal'))).toEqual([
    expect.stringMatching(/line 2 has 2,148,\d{3},\d{3}$/),
  ])
  expect(bytesRead).toBe(reader.sizeBytes)
  expect(reader.sizeBytes).toBe(TAIL_OFFSET + 15)
})
