import { openFromRow } from '../features/scratchpad/scratchpad.ts'
import { goTo } from './route.ts'

/** Opens the request of a row in the Scratchpad, sent or not. */
export async function openScratchpad(runId: string, row: number): Promise<void> {
  await openFromRow(runId, row)
  goTo({ kind: 'scratchpad' })
}
