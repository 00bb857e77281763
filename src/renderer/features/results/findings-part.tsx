import type { TaskFindings } from '../../../shared/service/answer-findings.ts'
import { MaskedText } from '../../ui/content/user-content.tsx'
import { FactTable } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './results.module.css'

/** Most entries of a list that are shown; the answer has them all. */
const ENTRIES_MAX = 50

/**
 * What the answer of a task says beyond rules and scores. What it quotes of the content is masked until that is
 * revealed; addresses are texts, not links.
 */
export function FindingsPart({ findings, revealed }: { findings: TaskFindings; revealed: boolean }) {
  const { fromCache, languages, models, pii, urls, textFilters } = findings
  const quoting = [
    ['Personal data', pii],
    ['Matched terms', textFilters],
    ['Addresses', urls],
    ['Index matches', findings.matches],
  ] as const
  const naming = [
    ['Moderated classes', findings.moderatedClasses],
    ['Custom classes', findings.customClasses],
  ] as const
  const lists = [...quoting, ...naming].some(([, list]) => list.length > 0)
  if (fromCache === null && languages.length === 0 && models.length === 0 && !lists) return null
  return (
    <section>
      <h3>Found in the content</h3>
      <FactTable
        look="plain"
        className={styles.facts}
        facts={[
          languages.length > 0 && ['Language', <SafeText key="all" text={languages.join(', ')} max={200} />],
          models.length > 0 && [
            'Models',
            <ul key="all">
              {models.map(({ model, code, message }) => (
                <li key={`${model} ${code}`}>
                  <SafeText text={model} max={80} />
                  {code !== null && code !== '0' && (
                    <>
                      : code <SafeText text={code} max={40} /> <SafeText text={message ?? ''} max={120} />
                    </>
                  )}
                </li>
              ))}
            </ul>,
          ],
          ...quoting.map(
            ([name, list]) =>
              list.length > 0 && ([name, <Entries key={name} list={list} revealed={revealed} />] as const),
          ),
          ...naming.map(
            ([name, list]) =>
              list.length > 0 &&
              ([name, <SafeText key={name} text={list.map(toText).join(', ')} max={400} />] as const),
          ),
          fromCache !== null && ['From cache', fromCache ? 'yes' : 'no'],
        ]}
      />
    </section>
  )
}

function Entries({ list, revealed }: { list: readonly unknown[]; revealed: boolean }) {
  const shown = list.slice(0, ENTRIES_MAX)
  return (
    <ul>
      {shown.map((entry, index) => {
        const { value, type } = readEntry(entry)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries may be alike and never move
          <li key={index}>
            {type !== null && (
              <>
                <SafeText text={type} max={60} />:{' '}
              </>
            )}
            <MaskedText text={value} revealed={revealed} />
          </li>
        )
      })}
      {list.length > shown.length && <li>and {list.length - shown.length} more, in the answer below</li>}
    </ul>
  )
}

/** What an entry quotes, and what the answer calls it. */
function readEntry(entry: unknown): { value: string; type: string | null } {
  if (typeof entry !== 'object' || entry === null) return { value: toText(entry), type: null }
  const value = 'value' in entry && typeof entry.value === 'string' ? entry.value : null
  const type = 'type' in entry && typeof entry.type === 'string' && entry.type !== '' ? entry.type : null
  return value === null ? { value: toText(entry), type: null } : { value, type }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
