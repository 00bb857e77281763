import { sayReadAs } from '../../../shared/messages/reading-messages.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { SafeText } from '../text/safe-text.tsx'

/** How the source of a run was read, in a line; of several files how many there were. Nothing where that is not known. */
export function ReadAsLine({ summary }: { summary: Pick<RunSummary, 'source_read'> }) {
  const files = summary.source_read?.read_as ?? []
  const [first] = files
  if (first === undefined) return null
  const how = sayReadAs(first, 'window')
  return (
    <SafeText
      text={files.length === 1 ? `Read as ${how}` : `${files.length} files, the first read as ${how}`}
      max={300}
      lines
    />
  )
}
