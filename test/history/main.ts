import process from 'node:process'
import { toThrownText } from '../../src/shared/messages/thrown.ts'
import { checkHistory } from '../helpers/history/check-history.ts'

/**
 * `npm run check:history -- RUN… RECORDING`. Exit codes: 0 without faults, 1 with faults, 2 for bad usage.
 */
try {
  process.exitCode = await checkHistory(process.argv.slice(2), process)
} catch (error) {
  process.stderr.write(`${toThrownText(error)}\n`)
  process.exitCode = 2
}
