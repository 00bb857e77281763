import type { ReactNode } from 'react'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { hasGuess, sayReadAs } from '../../../shared/messages/reading-messages.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { SafeText } from '../text/safe-text.tsx'

/** How a run's source was read, on one line; for several files, their number. Nothing if unknown. */
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

/** How the files of a run's source were read that needed guesses, if any; null otherwise. */
export function toGuess(summary: Pick<RunSummary, 'source_read'> | undefined): ReactNode {
  const files = summary?.source_read?.read_as ?? []
  const guessed = files.filter(hasGuess)
  const [first] = guessed
  if (first === undefined) return null
  const of = first.file === undefined ? '' : `${first.file} `
  const more = guessed.length - 1
  const others =
    more === 0 ? '' : `; ${formatCounted(more, 'more file is', 'more files are')} read by a guess`
  return <SafeText text={`Read ${of}as ${sayReadAs(first, 'window')}${others}`} max={300} lines />
}
