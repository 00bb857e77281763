import { sayReadAs } from '../../../shared/messages/reading-messages.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { SafeText } from '../text/safe-text.tsx'

/** How the source of a run was read, in a line; of several files how many there were. Nothing where that is not known. */
export function ReadAsLine({ summary }: { summary: Pick<RunSummary, 'source_read'> }) {
  const files = summary.source_read?.read_as ?? []
  const [first] = files
  if (first === undefined) return null
  const read = `Read as ${sayReadAs(first, 'window')}`
  return (
    <SafeText text={files.length === 1 ? read : `${files.length} files. First: ${read}`} max={300} lines />
  )
}
