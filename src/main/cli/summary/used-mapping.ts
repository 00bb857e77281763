import { listUsedMapping } from '../../../shared/messages/used-mapping-words.ts'
import type { UsedMapping } from '../../../shared/run/used-mapping.ts'
import { formatSection, sectionColumns, wrapWords } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** What filled the fields of a run's requests, a line each; nothing where that is not known. */
export function formatUsedMapping(terminal: Terminal, mapping: UsedMapping | undefined): string[] {
  if (mapping === undefined) return []
  const lines = listUsedMapping(mapping).flatMap((line) =>
    wrapWords(toPrintable(line), sectionColumns(terminal)),
  )
  return formatSection(terminal, 'Mapping', lines)
}
