import { sayReadAs } from '../../../shared/messages/reading-messages.ts'
import type { SourceRead } from '../../../shared/run/read-as.ts'
import { formatSection, sectionColumns, wrapWords } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Files that are listed with how they were read. */
const FILES_MAX = 10

/** How the source of a run was read, a file at a time; nothing where that is not known. */
export function formatSourceRead(terminal: Terminal, sourceRead: SourceRead | null | undefined): string[] {
  if (sourceRead === null || sourceRead === undefined) return []
  const { read_as: files } = sourceRead
  const lines = files.slice(0, FILES_MAX).map((readAs) => {
    const file = readAs.file === undefined ? '' : `${readAs.file}: `
    return `${file}${sayReadAs(readAs, 'terminal')}`
  })
  const left = files.length - lines.length
  if (left > 0) lines.push(`and ${left} more ${left === 1 ? 'file' : 'files'}`)
  return formatSection(
    terminal,
    'Read as',
    lines.flatMap((line) => wrapWords(toPrintable(line), sectionColumns(terminal))),
  )
}
