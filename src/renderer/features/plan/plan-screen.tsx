import { IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { PLAN_FORMAT } from '../../../shared/bridge/plans.ts'
import { describeLoad } from '../../../shared/load/load.ts'
import { isEmpty } from '../../../shared/mapping/check-mapping.ts'
import { toWholeMapping } from '../../../shared/mapping/match-columns.ts'
import { formatSetDuration } from '../../../shared/messages/duration.ts'
import { formatBytes, formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayFix } from '../../../shared/messages/fix-messages.ts'
import { isAbout, isAsync } from '../../../shared/operations/operations.ts'
import type { KeyFrom } from '../../../shared/plan/connection.ts'
import { type Fix, getFixedRecord } from '../../../shared/plan/fixes.ts'
import type { FieldSource, Plan } from '../../../shared/plan/plan.ts'
import { listPlanDifferences, sayPlanDifference } from '../../../shared/plan/plan-differences.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { saveExport, suggestFileName } from '../../bridge/save-export.ts'
import { ContentSwitch, isFieldContent, MaskedText, useContentShown } from '../../ui/content/user-content.tsx'
import { ActionButton } from '../../ui/controls.tsx'
import { ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { describeLoadTest, describeOptions, toLook } from '../../ui/operations/operation-looks.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { useFileWriter } from '../../ui/written-file.tsx'
import styles from './plan.module.css'

/** What a run was started with, as recorded: it cannot be changed here, but saved. */
export function PlanScreen({ runId }: { runId: string }) {
  const plan = useQuery(ask.runs.readPlan.queryOptions({ input: { runId } }))
  const columns = useQuery(ask.results.columns.queryOptions({ input: { runId } }))
  const file = useFileWriter()
  const [notes, setNotes] = useState<readonly string[]>([])
  const error = plan.error ?? columns.error
  const save = () =>
    file.write({
      describe: () => 'Plan written',
      write: () =>
        saveExport(suggestFileName(plan.data?.name ?? 'run', PLAN_FORMAT, 'plan'), async (target) => {
          const written = await bridge.plans.save({ runId, ...target })
          setNotes(written.notes)
          return written.saved
        }),
    })
  return (
    <Screen
      title="Plan"
      subtitle="What this run was started with. A saved plan holds no key."
      actions={
        <>
          {(plan.data?.fixes ?? []).length > 0 && <ContentSwitch />}
          <ActionButton
            label="Save as a plan file"
            icon={IconDownload}
            loading={file.isWriting}
            disabled={plan.data === undefined}
            onClick={save}
          />
        </>
      }
    >
      {error !== null && <ErrorNotice error={error} />}
      {file.notice}
      {notes.length > 0 && (
        <Notice kind="warning" title="To know about this plan file">
          {notes.map((note) => (
            <p key={note}>
              <SafeText text={note} max={600} lines />
            </p>
          ))}
        </Notice>
      )}
      {plan.data !== undefined && <PlanParts plan={plan.data} columns={columns.data ?? []} />}
    </Screen>
  )
}

function PlanParts({ plan, columns }: { plan: Plan; columns: readonly string[] }) {
  const { fixes = [] } = plan
  return (
    <div className={`grid items-start gap-4 ${styles.parts}`}>
      <Panel title="Operation and source">
        <Facts facts={listSourceFacts(plan)} />
      </Panel>
      <Panel title="Connection">
        <Facts facts={listConnectionFacts(plan)} />
      </Panel>
      <MappingPanel plan={plan} columns={columns} />
      <Panel title="Pace and retries">
        <Facts facts={listPaceFacts(plan)} />
      </Panel>
      {fixes.length > 0 && <FixesPanel fixes={fixes} />}
    </div>
  )
}

/** What filled each field, including columns matched by name, without fields that the plan leaves empty. */
function MappingPanel({ plan, columns }: { plan: Plan; columns: readonly string[] }) {
  const mapped = Object.entries(toWholeMapping(plan, columns)).filter(([, source]) => !isEmpty(source))
  return (
    <Panel title="Mapping" aside={formatCounted(mapped.length, 'field')}>
      <Facts facts={mapped.map(([field, source]) => [field, describeFieldSource(source)])} />
    </Panel>
  )
}

/** Corrections listed individually; a saved plan has all. */
const FIXES_SHOWN = 100

function FixesPanel({ fixes }: { fixes: readonly Fix[] }) {
  const shown = useContentShown()
  return (
    <Panel title="Corrections" aside={formatCounted(fixes.length, 'correction')}>
      <ul className="grid gap-1 m-0 pl-4">
        {fixes.slice(0, FIXES_SHOWN).map((fix) => {
          const { where, what, value } = sayFix(fix)
          return (
            <li key={JSON.stringify(fix)}>
              {getFixedRecord(fix) !== null && `Record ${getFixedRecord(fix)} `}
              <SafeText text={`${where} ${what}`.trim()} max={200} />{' '}
              {value !== null && (
                <MaskedText
                  text={value}
                  revealed={shown || !isFieldContent('field' in fix ? fix.field : undefined, value)}
                  max={80}
                />
              )}
            </li>
          )
        })}
      </ul>
      {fixes.length > FIXES_SHOWN && (
        <p>and {formatCounted(fixes.length - FIXES_SHOWN, 'more correction', 'more corrections')}</p>
      )}
    </Panel>
  )
}

/** A name and a value; undefined and false values are left out. */
type Fact = readonly [name: string, text: string | number | undefined | false]

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(
        ([name, text]) =>
          text !== undefined &&
          text !== false && (
            <div key={name}>
              <dt className="quiet breaks">{name}</dt>
              <dd className="m-0 breaks">
                <SafeText text={String(text)} max={300} lines />
              </dd>
            </div>
          ),
      )}
    </dl>
  )
}

function listSourceFacts({ operation, load, source, onlyNew }: Plan): Fact[] {
  const { path, format, header, headerRow, sheet, rows, encoding, delimiter, quote, media } = source
  const does = load === undefined ? describeOptions(operation) : describeLoadTest(operation, load)
  return [
    ['Operation', `${toLook(load === undefined ? operation.kind : 'load').title}: ${does}`],
    ['Models', isAbout(operation, 'content') && operation.models.length > 1 && operation.models.join(', ')],
    ...listFileFacts([path, ...(source.more ?? [])]),
    ['Format', format],
    ['Sheet', sheet],
    ['Header row', header ? String(headerRow ?? 1) : 'none'],
    ['Rows', rows],
    ['Merged cells', source.merged],
    ['Encoding', encoding],
    ['Delimiter', delimiter === '\t' ? 'tab' : delimiter],
    ['Quote', quote],
    ['Escape', source.escape],
    ['Sends', onlyNew && sayOnlyNew(onlyNew)],
    ['Media', media && (media.kind === 'host' ? (media.url ?? 'served by Sluice') : media.template)],
  ]
}

function sayOnlyNew({ by, unknown }: NonNullable<Plan['onlyNew']>): string {
  const key = by === undefined ? '' : `, recognized by ${by.join(' and ')}`
  return `only what ${unknown === 'skip' ? 'is certainly new' : 'is new'}${key}`
}

/** Most files of a source that are listed; there may be thousands. */
const FILES_LISTED = 20

function listFileFacts(paths: readonly string[]): Fact[] {
  if (paths.length === 1) return paths.map((path) => ['Source', path])
  return [
    ['Source', formatCounted(paths.length, 'file')],
    ...paths.slice(0, FILES_LISTED).map((path, index) => [`File ${index + 1}`, path] as const),
    ['Other files', paths.length > FILES_LISTED && formatCount(paths.length - FILES_LISTED)],
  ]
}

const GIVEN_KEYS: Record<KeyFrom, string> = {
  window: 'typed in the window',
  file: 'from a file (--api-key-file)',
  command: 'from a command (--api-key-command)',
}

/** Where it was sent, and which certificates the connection trusts; no plan contains the key itself. */
export function listConnectionFacts({ connection, operation, callback }: Plan): Fact[] {
  const { name, baseUrl, taskBaseUrl, keyFrom, apiKeyEnv, timeoutMs, deliveredCodes, ...others } = connection
  const isLater = isAsync(operation)
  return [
    ['Connection', name],
    ['Base URL', baseUrl],
    ['Second host', taskBaseUrl],
    ['Key', keyFrom === undefined ? `from the variable ${apiKeyEnv}` : GIVEN_KEYS[keyFrom]],
    ['Timeout', formatSetDuration(timeoutMs)],
    ['Delivered codes', deliveredCodes.join(', ') || undefined],
    ...listSettings({ connection: others }),
    ['Callbacks to', isLater && (callback.url ?? 'the receiver on this machine')],
    ['Overdue after', isLater && formatSetDuration(callback.timeoutMs)],
    ['Callbacks up to', isLater && formatBytes(callback.maxBytes)],
  ]
}

/** All settings in a part of a plan, named like their options. */
function listSettings(part: Partial<Plan> | { connection: Partial<Plan['connection']> }): Fact[] {
  return listPlanDifferences(part, {}).map((one) => {
    const { setting, a: value } = sayPlanDifference(one)
    return [setting.charAt(0).toUpperCase() + setting.slice(1), value]
  })
}

/** How fast it was sent, what was retried, and what would have stopped it. */
function listPaceFacts({ load, pace, retry, connection, stop }: Plan): Fact[] {
  const { limit, baseMs, maxMs, maxRetryAfterMs } = retry
  const speed =
    pace.kind === 'closed'
      ? `at most ${formatCounted(pace.concurrency, 'request')} in flight`
      : `${pace.ratePerSecond} requests a second, at most ${pace.maxInFlight} in flight`
  return [
    ['Pace', load === undefined ? speed : describeLoad(load, connection.timeoutMs).join(', ')],
    ['Retries', limit === 0 ? 'none' : `${formatCounted(limit, 'retry', 'retries')} of a request`],
    ['Back-off', limit > 0 && `from ${formatSetDuration(baseMs)} up to ${formatSetDuration(maxMs)}`],
    ['Retry-After', limit > 0 && `waited for up to ${formatSetDuration(maxRetryAfterMs)}`],
    ...listSettings({ stop }),
  ]
}

/** What fills a field, in words. */
function describeFieldSource(source: FieldSource): string {
  if (source.kind === 'column') {
    return typeof source.column === 'number' ? `column number ${source.column}` : `column ${source.column}`
  }
  return source.template.includes('{{') ? `template ${source.template}` : `always ${source.template}`
}
