import { Group } from '@mantine/core'
import {
  type CapacityBounds,
  planCapacity,
  toCapacityThresholds,
} from '../../../shared/load/capacity-plan.ts'
import { describeCapacityPlan } from '../../../shared/load/capacity-view.ts'
import { describeLoad, type Load, toMeasuredMs, toPlannedRequests } from '../../../shared/load/load.ts'
import { formatCount, formatSpan } from '../../../shared/messages/figure-text.ts'
import { RETRY_OPTIONS } from '../../../shared/options/retry-options.ts'
import { WholeNumber } from '../../ui/controls.tsx'
import { type Figure, Figures, Panel } from '../../ui/layout/screen.tsx'
import { OptionInputs } from '../../ui/options/option-inputs.tsx'
import { readTyped } from '../../ui/options/typed-options.ts'
import styles from './review.module.css'
import { estimateDurationMs, type Settings } from './settings.ts'

/** What an answer is taken to need before one was measured, in milliseconds. */
const ASSUMED_ANSWER_MS = 250

/** Longest time to wait for an answer. */
const TIMEOUT_MAX_S = 3_600

/** How fast to send, and what that comes to: requests in all and the time they should take. */
export function PacePanel(props: {
  settings: Settings
  requests: number
  /** Most rows that one request carries. */
  rowsPerItem: number
  /** Mean of the answers so far in milliseconds; null before the first. */
  measuredMs: number | null
  onSettings: (settings: Settings) => void
}) {
  const { settings, requests, rowsPerItem, measuredMs, onSettings } = props
  const answerMs = measuredMs ?? ASSUMED_ANSWER_MS
  const estimate = estimateDurationMs(requests, settings.concurrency, answerMs)
  return (
    <Panel title="Pace">
      <Group gap="md" align="end" mb="md">
        <WholeNumber
          w="6.5rem"
          label="In flight"
          value={settings.concurrency}
          max={1000}
          onValue={(concurrency) => onSettings({ ...settings, concurrency })}
        />
        <OptionInputs
          table={RETRY_OPTIONS}
          section="pace"
          values={settings.retry}
          mistakes={readTyped(RETRY_OPTIONS, settings.retry).mistakes}
          onChange={(change) => onSettings({ ...settings, retry: { ...settings.retry, ...change } })}
        />
        <WholeNumber
          w="6.5rem"
          label="Timeout (s)"
          value={settings.timeoutS}
          max={TIMEOUT_MAX_S}
          onValue={(timeoutS) => onSettings({ ...settings, timeoutS })}
        />
      </Group>
      <Figures
        figures={[
          {
            label: 'Requests in all',
            value: formatCount(requests),
            note: rowsPerItem === 1 ? 'one per row' : `up to ${formatCount(rowsPerItem)} rows in each`,
          },
          {
            label: 'Estimated time',
            value: formatSpan(estimate),
            note:
              measuredMs === null
                ? `if an answer takes ${ASSUMED_ANSWER_MS} ms`
                : `at the ${Math.round(measuredMs)} ms measured`,
          },
        ]}
      />
      <p className="mt-3 quiet">
        Sluice retries what the service did not accept or what is safe to repeat, and honours Retry-After.
      </p>
    </Panel>
  )
}

/** What a load test will do, in words, and what that comes to. */
export function LoadPanel(props: {
  load: Load
  /** Of a capacity search with the load test; null where it is sent once. */
  bounds: CapacityBounds | null
  /** Rows that are sent in turn. */
  rows: number
  settings: Settings
  onSettings: (settings: Settings) => void
}) {
  const { load, bounds, settings, onSettings } = props
  const planned = bounds === null ? null : planCapacity(load, bounds)
  const search = planned?.ok ? describeCapacityPlan(planned.plan, load) : null
  // A search judges each probe by a threshold more where the load test has none for failed requests.
  const probed = search === null ? load : { ...load, thresholds: toCapacityThresholds(load) }
  return (
    <Panel title={search === null ? 'Load' : 'Each probe'}>
      {search !== null && (
        <p>
          Capacity search: {search.probes}; at most {search.atMost}.
        </p>
      )}
      <ul className={`grid gap-1 mb-3 ${styles.load}`}>
        {describeLoad(probed, settings.timeoutS * 1000).map((phrase) => (
          <li key={phrase}>{phrase}</li>
        ))}
      </ul>
      {search === null && <Figures figures={toFigures(load, props.rows)} />}
      <WholeNumber
        label="Timeout (s)"
        w="6.5rem"
        mt="sm"
        value={settings.timeoutS}
        max={TIMEOUT_MAX_S}
        onValue={(timeoutS) => onSettings({ ...settings, timeoutS })}
      />
    </Panel>
  )
}

function toFigures(load: Load, rows: number): Figure[] {
  const requests = toPlannedRequests(load)
  const measuredMs = toMeasuredMs(load)
  return [
    {
      label: 'Requests',
      value: requests === null ? 'as many as return' : formatCount(requests),
      note: `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'} in turn, each time under a new post_id`,
    },
    ...(measuredMs === null ? [] : [{ label: 'Measured for', value: formatSpan(measuredMs) }]),
  ]
}
