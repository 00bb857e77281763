import { describeLoad } from '../../../shared/load/load.ts'
import { formatSetDuration } from '../../../shared/messages/duration.ts'
import { formatBytes, formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { isAbout, isAsync } from '../../../shared/operations/operations.ts'
import type { KeyFrom } from '../../../shared/plan/connection.ts'
import type { FieldSource, Plan } from '../../../shared/plan/plan.ts'
import { describeLoadTest, describeOptions, toLook } from '../../ui/operations/operation-looks.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './plan.module.css'

type Fact = readonly [name: string, text: string]

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, text]) => (
        <div key={name}>
          <dt className="quiet breaks">{name}</dt>
          <dd className="m-0 breaks">
            <SafeText text={text} max={300} lines />
          </dd>
        </div>
      ))}
    </dl>
  )
}

export function listSourceFacts({ operation, load, source, onlyNew }: Plan): Fact[] {
  const { path, format, header, headerRow, sheet, rows, encoding, delimiter, quote, media } = source
  const does = load === undefined ? describeOptions(operation) : describeLoadTest(operation, load)
  return [
    ['Operation', `${toLook(load === undefined ? operation.kind : 'load').title}: ${does}`],
    ...(isAbout(operation, 'content') && operation.models.length > 1
      ? [['Models', operation.models.join(', ')] as const]
      : []),
    ...listFileFacts([path, ...(source.more ?? [])]),
    ...toFact('Format', format),
    ...toFact('Sheet', sheet),
    ['Header row', header ? String(headerRow ?? 1) : 'none'],
    ...toFact('Rows', rows),
    ...toFact('Merged cells', source.merged),
    ...toFact('Encoding', encoding),
    ...toFact('Delimiter', delimiter === '\t' ? 'tab' : delimiter),
    ...toFact('Quote', quote),
    ...toFact('Escape', source.escape),
    ...toFact('Sends', onlyNew && sayOnlyNew(onlyNew)),
    ...toFact('Media', media && (media.kind === 'host' ? (media.url ?? 'served by Sluice') : media.template)),
  ]
}

function sayOnlyNew({ by, unknown }: NonNullable<Plan['onlyNew']>): string {
  const key = by === undefined ? '' : `, recognized by ${by.join(' and ')}`
  return `only what ${unknown === 'skip' ? 'is certainly new' : 'is new'}${key}`
}

/** Files of a source that are listed; there may be thousands. */
const FILES_LISTED = 20

function listFileFacts(paths: readonly string[]): Fact[] {
  if (paths.length === 1) return paths.map((path) => ['Source', path])
  return [
    ['Source', formatCounted(paths.length, 'file')],
    ...paths.slice(0, FILES_LISTED).map((path, index) => [`File ${index + 1}`, path] as const),
    ...(paths.length > FILES_LISTED
      ? [['Other files', formatCount(paths.length - FILES_LISTED)] as const]
      : []),
  ]
}

const GIVEN_KEYS: Record<KeyFrom, string> = {
  window: 'typed in the window',
  file: 'from a file (--api-key-file)',
  command: 'from a command (--api-key-command)',
}

/** Where it was sent, and whom the connection trusts; the key itself is in no plan. */
export function listConnectionFacts({ connection, operation, callback }: Plan): Fact[] {
  const { name, baseUrl, taskBaseUrl, keyFrom, apiKeyEnv, timeoutMs, deliveredCodes, tls, proxy } = connection
  return [
    ...toFact('Connection', name),
    ['Base URL', baseUrl],
    ...toFact('Second host', taskBaseUrl),
    ['Key', keyFrom === undefined ? `from the variable ${apiKeyEnv}` : GIVEN_KEYS[keyFrom]],
    ['Timeout', formatSetDuration(timeoutMs)],
    ...toFact('Delivered codes', deliveredCodes.join(', ') || undefined),
    ...toFact('Authorities', tls?.caFile),
    ...toFact('Certificate', tls?.certFile),
    ...toFact('Proxy', proxy?.url),
    ...(isAsync(operation)
      ? ([
          ['Callbacks to', callback.url ?? 'the receiver on this machine'],
          ['Overdue after', formatSetDuration(callback.timeoutMs)],
          ['Callbacks up to', formatBytes(callback.maxBytes)],
        ] as const)
      : []),
  ]
}

/** How fast it was sent, and what was tried again. */
export function listPaceFacts({ load, pace, retry, connection }: Plan): Fact[] {
  const { limit, baseMs, maxMs, maxRetryAfterMs } = retry
  const speed =
    pace.kind === 'closed'
      ? `at most ${formatCounted(pace.concurrency, 'request')} in flight`
      : `${pace.ratePerSecond} requests a second, at most ${pace.maxInFlight} in flight`
  return [
    ['Pace', load === undefined ? speed : describeLoad(load, connection.timeoutMs).join(', ')],
    ['Retries', limit === 0 ? 'none' : `${formatCounted(limit, 'retry', 'retries')} of a request`],
    ...(limit === 0
      ? []
      : ([
          ['Back-off', `from ${formatSetDuration(baseMs)} up to ${formatSetDuration(maxMs)}`],
          ['Retry-After', `waited for up to ${formatSetDuration(maxRetryAfterMs)}`],
        ] as const)),
  ]
}

/** What fills a field, in words. */
export function describeFieldSource(source: FieldSource): string {
  if (source.kind === 'column') {
    return typeof source.column === 'number' ? `column number ${source.column}` : `column ${source.column}`
  }
  return source.template.includes('{{') ? `template ${source.template}` : `always ${source.template}`
}

function toFact(name: string, value: string | number | undefined): Fact[] {
  return value === undefined ? [] : [[name, String(value)]]
}
