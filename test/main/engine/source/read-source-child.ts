import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { SluiceError } from '../../../../src/shared/messages/errors.ts'
import { readPeakRssBytes } from '../../../helpers/resource-use.ts'

/**
 * Reads the file in its argument as a source; prints the number of its rows, or the message of its refusal.
 */
try {
  const reader = await openSource({ path: process.argv[2] ?? '', header: true })
  let rows = 0
  for await (const batch of reader.batches()) rows += batch.rows.length
  reader.close()
  console.log(JSON.stringify({ rows, peakMb: readPeakRssBytes() / 1024 / 1024 }))
} catch (error) {
  if (!(error instanceof SluiceError)) throw error
  console.log(`${error.message} | ${error.hint}`)
}
