import { Stack } from '@mantine/core'
import type { LoadOverview } from '../../../shared/bridge/results.ts'
import type { LoadErrorGroup, LoadFirstRequest } from '../../../shared/load/load-report.ts'
import type { LoadFact, LoadView } from '../../../shared/load/load-view.ts'
import { formatCounted, formatSpan } from '../../../shared/messages/figure-text.ts'
import { MAY_INCLUDE_DELAYS } from '../../../shared/messages/own-delays.ts'
import { GROUP_TITLES, toGroupTable, toStagesTable } from '../../../shared/report/load-sections.ts'
import { askRequest } from '../../bridge/asked-request.ts'
import { BarTable } from '../../ui/charts/bar-table.tsx'
import { type AskedRequest, ServiceMessage } from '../../ui/content/service-message.tsx'
import { ContentSwitch } from '../../ui/content/user-content.tsx'
import { Figures, Notice, Panel } from '../../ui/layout/screen.tsx'
import { CauseList } from '../../ui/states/cause-list.tsx'
import { VerdictLabel } from '../../ui/states/run-state.tsx'
import { ReportTable } from '../../ui/table/report-table.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'

/** Query for the first request, which the service's answer may quote; null without an answer. */
function askFirst(runId: string, first: LoadFirstRequest | undefined): AskedRequest | null {
  return first?.row === undefined || first.status === null ? null : askRequest(runId, { row: first.row })
}

/** What readers must know before any figure. */
export function LoadNotices(props: {
  view: LoadView
  isOver: boolean
  runId: string
  first: LoadFirstRequest | undefined
}) {
  const { view, isOver, runId, first } = props
  // The service's answer to the first request may be the reason why the load test ended.
  const request = askFirst(runId, first)
  return (
    <>
      {view.notices
        .filter(({ kind }) => isOver || kind !== 'ended')
        .map(({ kind, title, text, details }) => (
          <Notice
            key={kind}
            kind="warning"
            title={
              <ServiceMessage message={title} request={kind === 'ended' ? request : null}>
                {(told) => <SafeText text={told} max={600} lines />}
              </ServiceMessage>
            }
          >
            {text}
            <TextList texts={details} />
          </Notice>
        ))}
      {view.caveats.length > 0 && (
        <Notice kind="warning" title="What the percentiles leave out or include">
          <TextList texts={view.caveats} />
        </Notice>
      )}
    </>
  )
}

function TextList({ texts }: { texts: string[] }) {
  if (texts.length === 0) return null
  return (
    <ul className={'mt-1 pl-4 disc'}>
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  )
}

/** The result of a load test: its settings and rates. */
export function LoadSummaryPanel({ report, view }: { report: LoadOverview; view: LoadView }) {
  return (
    <Panel
      title="Summary"
      aside={
        report.startedAt === null ? 'nothing was measured' : `measured for ${formatSpan(report.durationMs)}`
      }
    >
      <Stack gap="sm">
        <Figures figures={view.requests} />
        <p className="quiet">
          <SafeText text={report.plan.join(' · ')} max={2_000} lines />
        </p>
        {view.traffic.length > 0 && (
          <p className="quiet">
            <ServiceMessage
              message={`${view.traffic.map(toPhrase).join('; ')}.`}
              request={askFirst(report.runId, report.firstRequest)}
            >
              {(told) => told}
            </ServiceMessage>
          </p>
        )}
      </Stack>
    </Panel>
  )
}

function toPhrase({ label, value, note }: LoadFact): string {
  return `${label}: ${note === undefined ? value : `${value}, ${note}`}`
}

/** Every threshold: whether it passed, the measured value, and its distance from the limit. */
export function ThresholdsPanel(props: {
  thresholds: Omit<LoadView['thresholds'], 'note'>
  note: string | null
  isOver: boolean
}) {
  const { thresholds, note, isOver } = props
  const { rows, verdict } = thresholds
  return (
    <Panel title="Thresholds" aside={rows.length === 0 && !isOver ? 'none judged yet' : verdict} flush>
      <Table
        caption="Thresholds"
        empty={isOver ? (note ?? 'No thresholds set.') : 'Evaluated from the first measured second on.'}
        rows={rows}
        toKey={({ expression }) => expression}
        toRow={({ isMet }) => ({ 'data-ok': isMet })}
        columns={[
          {
            title: 'Threshold',
            cell: ({ expression }) => (
              <code>
                <SafeText text={expression} max={80} />
              </code>
            ),
          },
          {
            title: isOver ? 'Verdict' : 'So far',
            cell: ({ isMet, word }) => <VerdictLabel verdict={isMet ? 'held' : 'failed'} word={word} />,
          },
          { title: 'Value', isNumber: true, cell: ({ value }) => value },
          { title: 'By how much', cell: ({ margin }) => margin },
        ]}
      />
      {rows.length > 0 && note !== null && <p className="p-4 quiet">{note}</p>}
    </Panel>
  )
}

export function StatusesPanel({ statuses }: Pick<LoadView, 'statuses'>) {
  return (
    <Panel title="Answers by status">
      {statuses.length === 0 ? (
        <p className="quiet">None yet.</p>
      ) : (
        <BarTable
          caption="Requests by status"
          bars={statuses.map(({ name, requests }) => ({
            id: name,
            name: <SafeText text={name} max={80} />,
            rows: requests,
          }))}
        />
      )}
    </Panel>
  )
}

/** Failed requests by cause, each with its times. */
export function LoadErrorsPanel({ runId, errors }: { runId: string } & Pick<LoadView, 'errors'>) {
  const toRequest = ({ status, row }: LoadErrorGroup) =>
    status === null || row === undefined ? null : askRequest(runId, { row })
  const total = errors.reduce((sum, { requests }) => sum + requests, 0)
  return (
    <Panel title="Errors" aside={total === 0 ? 'none' : formatCounted(total, 'request')} flush>
      <CauseList
        empty="Requests that do not succeed are grouped here by cause."
        causes={errors.map(({ outcome, status, message, more, requests, when, group }) => ({
          key: `${outcome} ${status} ${message}`,
          outcome,
          message,
          more,
          name: status,
          count: requests,
          request: toRequest(group),
          note: when,
        }))}
      />
      {errors.some(({ group }) => toRequest(group) !== null) && (
        <div className="p-2-4">
          <ContentSwitch />
        </div>
      )}
    </Panel>
  )
}

/** Requests of each model or content size. */
export function GroupPanel({ group }: { group: LoadView['groups'][number] }) {
  return (
    <Panel title={GROUP_TITLES[group.by]} aside="http_req_duration of each" flush scrolls>
      <ReportTable caption={`Requests by ${group.by}`} table={toGroupTable(group, 'page')} />
    </Panel>
  )
}

export function StagesPanel({ stages }: Pick<LoadView, 'stages'>) {
  return (
    <Panel title="Stages" aside="http_req_duration of the requests of each" flush scrolls>
      <ReportTable caption="Requests by stage" table={toStagesTable(stages, 'page')} />
    </Panel>
  )
}

/** How this machine coped: whether its figures are reliable. */
export function GeneratorPanel(props: {
  generator: NonNullable<LoadView['generator']>
  seconds: LoadOverview['seconds']
}) {
  const { verdict, facts } = props.generator
  const limited = props.seconds.filter((second) => second.limited).map(({ second }) => second)
  return (
    <Panel title="This machine" aside={verdict}>
      <Stack gap="sm">
        <Figures figures={facts} />
        {limited.length > 0 && (
          <p className="quiet">
            {MAY_INCLUDE_DELAYS} in {limited.length === 1 ? 'second' : 'seconds'} {formatRanges(limited)}.
          </p>
        )}
      </Stack>
    </Panel>
  )
}

const RANGES_MAX = 20

/** `3, 7–9, 40`: consecutive numbers as ranges, a long list cut. */
function formatRanges(numbers: readonly number[]): string {
  const ranges: [from: number, to: number][] = []
  for (const number of numbers) {
    const last = ranges.at(-1)
    if (last !== undefined && number === last[1] + 1) last[1] = number
    else ranges.push([number, number])
  }
  const shown = ranges.slice(0, RANGES_MAX).map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`))
  return `${shown.join(', ')}${ranges.length > RANGES_MAX ? ' and others' : ''}`
}
