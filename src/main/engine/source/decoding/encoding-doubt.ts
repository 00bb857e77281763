import type { SourceWarning } from '../../../../shared/messages/problem-messages.ts'
import type { EncodingReading } from '../../../../shared/run/results.ts'
import type { ChosenEncoding } from './encoding.ts'

/** The warning that text may be in another encoding; none without several readings or a doubtful name. */
export function findEncodingWarnings({
  readings,
  encodingBy,
  beyond,
}: Pick<ChosenEncoding, 'readings' | 'encodingBy' | 'beyond'>): SourceWarning[] {
  const [chosen, ...others] = readings
  if (chosen === undefined || (others.length === 0 && beyond === undefined)) return []
  const args = {
    encoding: chosen.encoding,
    own: sayReading(chosen),
    others: others.map(sayReading).join(', '),
    ...(beyond !== undefined && { beyond }),
  }
  const code = encodingBy === 'given' ? 'stated_encoding' : 'uncertain_encoding'
  return [{ severity: 'warning', code, args, found: chosen.sample }]
}

/** Backticks mark code, here the source's words, which a window masks. */
function sayReading({ encoding, sample }: EncodingReading): string {
  return `\`${sample.replaceAll('`', "'")}\` in ${encoding}`
}
