import type { SourceWarning } from '../../../../shared/messages/problem-messages.ts'
import type { EncodingReading } from '../../../../shared/run/results.ts'

/** The warning that text may be in another encoding than it is read in; none without several readings. */
export function findEncodingWarnings(readings: readonly EncodingReading[]): SourceWarning[] {
  const [chosen, ...others] = readings
  if (chosen === undefined || others.length === 0) return []
  return [
    {
      severity: 'warning',
      code: 'uncertain_encoding',
      args: {
        encoding: chosen.encoding,
        own: sayReading(chosen),
        others: others.map(sayReading).join(', '),
      },
      found: chosen.sample,
    },
  ]
}

/** Backticks set off what is code, here the words of the source, which a window masks. */
function sayReading({ encoding, sample }: EncodingReading): string {
  return `\`${sample.replaceAll('`', "'")}\` in ${encoding}`
}
