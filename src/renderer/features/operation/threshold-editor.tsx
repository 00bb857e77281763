import { Group, Stack } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import {
  type Aggregation,
  isTrend,
  METRIC_KINDS,
  METRIC_NAMES,
  METRICS,
  type MetricName,
} from '../../../shared/load/metrics.ts'
import { parseThreshold, type ThresholdExpression } from '../../../shared/load/threshold-parser.ts'
import { formatTags } from '../../../shared/load/threshold-tags.ts'
import { formatThreshold } from '../../../shared/load/thresholds.ts'
import { formatDurationMs, parseDurationMs } from '../../../shared/messages/duration.ts'
import {
  ActionButton,
  CheckField,
  IconButton,
  NumberField,
  SelectField,
  TextArea,
  TextField,
} from '../../ui/controls.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { describeMistake } from './load-settings.ts'
import styles from './operation.module.css'

/** A parsed threshold, with what happens when it fails. */
interface EditedThreshold {
  parsed: ThresholdExpression
  abortOnFail: boolean
  delayAbortEvalMs: number
}

/** Edits thresholds by choosing, a line each, checked during typing; below is k6's text, to paste into. */
export function ThresholdEditor(props: {
  /** One per line, for `parseThreshold`. */
  text: string
  mistake: string | undefined
  onText: (text: string) => void
}) {
  const { text, onText } = props
  const lines = text.split('\n')
  const change = (index: number, line: string | null) =>
    onText(lines.toSpliced(index, 1, ...(line === null ? [] : [line])).join('\n'))
  const add = (line: string) => onText([...lines.filter((one) => one.trim() !== ''), line].join('\n'))
  return (
    <Stack gap="sm">
      {lines.map((line, index) => {
        if (line.trim() === '') return null
        const read = parseThreshold(line.trim())
        const key = `${index}`
        return read.ok ? (
          <ThresholdRow
            key={key}
            threshold={read}
            onThreshold={(changed) => change(index, formatEdited(changed))}
            onRemove={() => change(index, null)}
          />
        ) : (
          <Group key={key} gap="xs" wrap="nowrap" align="center">
            <p className="warned">
              <code>
                <SafeText text={line.trim()} max={80} />
              </code>{' '}
              {describeMistake(read.mistake)}
            </p>
            <RemoveButton what={line.trim()} onRemove={() => change(index, null)} />
          </Group>
        )
      })}
      <Group gap="xs">
        {OFFERS.map(({ label, line }) => (
          <ActionButton
            label={label}
            key={line}
            small
            leftSection={<IconPlus size="0.9rem" />}
            onClick={() => add(line)}
          />
        ))}
      </Group>
      <TextArea
        label="Thresholds as text, one a line"
        description="Metrics and grammar of k6, such as p(99)<500, http_req_failed<0.01 or dropped==0."
        size="xs"
        autosize
        minRows={2}
        maxRows={8}
        spellCheck={false}
        classNames={{ error: styles.mistakes ?? '' }}
        value={text}
        error={props.mistake}
        onValue={onText}
      />
    </Stack>
  )
}

const OFFERS = [
  { label: 'Latency', line: 'http_req_duration:p(99)<500' },
  { label: 'Failed requests', line: 'http_req_failed:rate<0.01' },
  { label: 'Throughput', line: 'http_reqs:rate>10' },
  { label: 'Dropped requests', line: 'dropped_iterations:count==0' },
]

const OPERATORS = ['<', '<=', '>', '>=', '==', '!='] as const

const AGGREGATION_NAMES: Record<Aggregation, string> = {
  avg: 'mean',
  min: 'minimum',
  med: 'median',
  max: 'maximum',
  p: 'percentile',
  count: 'number',
  rate: 'rate',
  value: 'value',
}

function ThresholdRow(props: {
  threshold: EditedThreshold
  onThreshold: (threshold: EditedThreshold) => void
  onRemove: () => void
}) {
  const { threshold, onThreshold } = props
  const { parsed, abortOnFail, delayAbortEvalMs } = threshold
  const { metric, aggregation, percentile, operator, limit } = parsed
  const known: readonly Aggregation[] = METRIC_KINDS[METRICS[metric].kind].aggregations
  const change = (part: Partial<ThresholdExpression>) =>
    onThreshold({ ...threshold, parsed: { ...parsed, ...part } })
  return (
    <fieldset className={`row flex-wrap gap-2 min-w-0 p-2-3 border rounded ${styles.threshold}`}>
      <legend className="visually-hidden">Threshold {formatEdited(threshold)}</legend>
      <SelectField
        size="xs"
        aria-label="Metric"
        title={METRICS[metric].meaning}
        data={METRIC_NAMES}
        value={metric}
        onValue={(chosen) => change(toMetric(chosen, parsed))}
      />
      {parsed.tags.length > 0 && <code>{formatTags(parsed.tags)}</code>}
      {known.length > 1 && (
        <SelectField
          size="xs"
          aria-label="Aggregation"
          data={known.map((value) => ({ value, label: AGGREGATION_NAMES[value] }))}
          value={aggregation}
          onValue={(chosen) =>
            change({ aggregation: chosen, percentile: chosen === 'p' ? (percentile ?? 99) : null })
          }
        />
      )}
      {aggregation === 'p' && (
        <NumberField
          size="xs"
          w="4.5rem"
          hideControls
          aria-label="Percentile"
          value={percentile ?? 99}
          min={0}
          max={100}
          decimalScale={3}
          clampBehavior="strict"
          onValue={(value) => value !== null && change({ percentile: value })}
        />
      )}
      <SelectField
        size="xs"
        w="4.25rem"
        aria-label="Comparison"
        data={OPERATORS}
        value={operator === '===' ? '==' : operator}
        onValue={(chosen) => change({ operator: chosen })}
      />
      <LimitInput
        metric={metric}
        aggregation={aggregation}
        limit={limit}
        onLimit={(value) => change({ limit: value })}
      />
      <CheckField
        size="xs"
        label="Stop on failure"
        title="Stop the test as soon as this threshold fails"
        value={abortOnFail}
        onValue={(abortOnFail) => onThreshold({ ...threshold, abortOnFail, delayAbortEvalMs: 0 })}
      />
      {abortOnFail && (
        <DelayField
          delayMs={delayAbortEvalMs}
          onDelay={(ms) => onThreshold({ ...threshold, delayAbortEvalMs: ms })}
        />
      )}
      <RemoveButton what={formatEdited(threshold)} onRemove={props.onRemove} />
    </fieldset>
  )
}

function DelayField(props: { delayMs: number; onDelay: (ms: number) => void }) {
  const [typed, setTyped] = useState(props.delayMs === 0 ? '' : formatDurationMs(props.delayMs))
  const toMs = (text: string) => (text.trim() === '' ? 0 : parseDurationMs(text.trim()))
  return (
    <TextField
      size="xs"
      w="6rem"
      aria-label="Not before"
      placeholder="not before"
      title="Measured time before this threshold can stop the test"
      value={typed}
      error={toMs(typed) === null ? 'Such as 10s' : undefined}
      onValue={(next) => {
        setTyped(next)
        const ms = toMs(next)
        if (ms !== null) props.onDelay(ms)
      }}
    />
  )
}

/** The limit in a person's unit: milliseconds, percent, or a number. */
function LimitInput(props: {
  metric: MetricName
  aggregation: Aggregation
  limit: number
  onLimit: (limit: number) => void
}) {
  const { metric, aggregation, limit } = props
  const isShare = METRICS[metric].kind === 'rate'
  const unit = isTrend(metric) ? 'ms' : isShare ? '%' : aggregation === 'rate' ? '/s' : ''
  return (
    <NumberField
      size="xs"
      w="7rem"
      hideControls
      aria-label={`Limit${unit === '' ? '' : ` (${unit})`}`}
      suffix={unit === '' ? '' : ` ${unit}`}
      value={isShare ? toPercent(limit) : limit}
      min={0}
      {...(isShare && { max: 100 })}
      clampBehavior="strict"
      onValue={(value) =>
        value !== null && props.onLimit(isShare ? Number((value / 100).toPrecision(12)) : value)
      }
    />
  )
}

function toPercent(share: number): number {
  return Number((share * 100).toPrecision(12))
}

function RemoveButton({ what, onRemove }: { what: string; onRemove: () => void }) {
  return (
    <IconButton
      icon={IconTrash}
      label={`Remove threshold ${what}`}
      title="Remove this threshold"
      onClick={onRemove}
    />
  )
}

/** The same comparison for another metric; parts that do not apply to it get its usual values. */
function toMetric(
  metric: MetricName,
  { tags, aggregation, percentile }: ThresholdExpression,
): ThresholdExpression {
  if (isTrend(metric)) {
    const isKnown = METRIC_KINDS.trend.aggregations.some((one) => one === aggregation)
    return {
      metric,
      tags,
      operator: '<',
      limit: 500,
      aggregation: isKnown ? aggregation : 'p',
      percentile: isKnown ? percentile : 99,
    }
  }
  const [first] = METRIC_KINDS[METRICS[metric].kind].aggregations
  const isShare = METRICS[metric].kind === 'rate'
  return {
    metric,
    tags,
    aggregation: first,
    percentile: null,
    ...(metric === 'checks'
      ? { operator: '>', limit: 0.99 }
      : isShare
        ? { operator: '<', limit: 0.01 }
        : { operator: '<=', limit: 0 }),
  }
}

function formatEdited({ parsed, abortOnFail, delayAbortEvalMs }: EditedThreshold): string {
  const { metric, tags, aggregation, percentile, operator, limit } = parsed
  const what = aggregation === 'p' ? `p(${percentile ?? 99})` : aggregation
  return formatThreshold({
    expression: `${metric}${formatTags(tags)}:${what}${operator}${limit}`,
    abortOnFail,
    delayAbortEvalMs,
  })
}
