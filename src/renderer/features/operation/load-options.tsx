import { Group, NumberInput, SegmentedControl, Stack, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { KEPT_MAX } from '../../../shared/load/load.ts'
import { IN_FLIGHT_MAX, type StagesPace } from '../../../shared/load/load-pace.ts'
import { formatDurationMs, parseDurationMs } from '../../../shared/messages/duration.ts'
import { WholeNumber } from '../../ui/controls.tsx'
import { Panel } from '../../ui/layout/screen.tsx'
import { CapacityFields } from './capacity-fields.tsx'
import { LevelField } from './level-field.tsx'
import { LoadProfile } from './load-profile.tsx'
import { findLoadMistakes, hasSchedule, type LoadMistakes, type LoadSettings } from './load-settings.ts'
import styles from './operation.module.css'
import { StageEditor } from './stage-editor.tsx'
import { changeUnit, formatStages, type LevelUnit, readStages } from './stages.ts'
import { ThresholdEditor } from './threshold-editor.tsx'

/** What the parts of the panels share. */
interface LoadFieldsProps {
  load: LoadSettings
  mistakes: LoadMistakes
  onLoad: (load: LoadSettings) => void
}

/** How hard and how long a deployment is pressed, what must hold, and how requests are sent. */
export function LoadOptions({ load, onLoad }: Omit<LoadFieldsProps, 'mistakes'>) {
  const fields = { load, onLoad, mistakes: findLoadMistakes(load) }
  return (
    <div className={styles.stack}>
      <Panel title="Load" aside="rows are sent in order, then again from the first">
        <Stack gap="md">
          <ChoiceFields {...fields} />
          {load.goal === 'capacity' ? (
            <CapacityFields {...fields} />
          ) : load.pace === 'stages' ? (
            <StageEditor
              text={load.stages}
              mistake={fields.mistakes.stages}
              onText={(stages) => onLoad({ ...load, stages })}
            />
          ) : (
            <ConstantFields {...fields} />
          )}
        </Stack>
      </Panel>
      <Panel title="Thresholds" aside={THRESHOLDS_ARE[load.goal]}>
        <ThresholdEditor
          text={load.thresholds}
          mistake={fields.mistakes.thresholds}
          onText={(thresholds) => onLoad({ ...load, thresholds })}
        />
      </Panel>
      <Panel title="Sending">
        <SendingFields {...fields} />
      </Panel>
    </div>
  )
}

/** What thresholds decide, by the goal. */
const THRESHOLDS_ARE = {
  measure: 'Limits for a passing test. Without any, it cannot fail.',
  capacity: 'A level holds if all of them hold.',
} satisfies Record<LoadSettings['goal'], string>

/** A choice between two or more, with its name above. */
function Choice<Value extends string>(props: {
  label: string
  options: readonly { value: Value; label: string }[]
  value: Value
  onValue: (value: Value) => void
}) {
  return (
    <Stack gap={4}>
      <span className={styles.fieldLabel} aria-hidden>
        {props.label}
      </span>
      <SegmentedControl
        aria-label={props.label}
        data={[...props.options]}
        value={props.value}
        onChange={(value) => {
          const chosen = props.options.find((option) => option.value === value)
          if (chosen) props.onValue(chosen.value)
        }}
      />
    </Stack>
  )
}

const GOALS = [
  { value: 'measure', label: 'Measure a load' },
  { value: 'capacity', label: 'Find the capacity' },
] as const

const UNITS = [
  { value: 'rate', label: 'Arrival rate' },
  { value: 'concurrency', label: 'Concurrency' },
] as const

const SHAPES = [
  { value: 'constant', label: 'Constant' },
  { value: 'stages', label: 'Stages' },
] as const

const MEANINGS: Record<LevelUnit, string> = {
  rate: 'Keeps this rate even if the service falls behind, as real users do.',
  concurrency: 'Keeps this many requests in flight: each answer is followed by the next request.',
}

function ChoiceFields({ load, onLoad }: LoadFieldsProps) {
  const unit = hasSchedule(load) ? 'rate' : 'concurrency'
  const toConstant = (of: LevelUnit) => (of === 'rate' ? 'open' : 'closed')
  const changeLevelUnit = (of: LevelUnit) => {
    const stages = readStages(load.stages)
    onLoad({
      ...load,
      pace: load.pace === 'stages' ? 'stages' : toConstant(of),
      ...(stages !== null && { stages: formatStages(changeUnit(stages, of)) }),
    })
  }
  return (
    <Stack gap="xs">
      <Group gap="md">
        <Choice
          label="Goal"
          options={GOALS}
          value={load.goal}
          onValue={(goal) =>
            onLoad({ ...load, goal, ...(goal === 'capacity' && { pace: toConstant(unit) }) })
          }
        />
        <Choice label="Pace" options={UNITS} value={unit} onValue={changeLevelUnit} />
        {load.goal === 'measure' && (
          <Choice
            label="Shape"
            options={SHAPES}
            value={load.pace === 'stages' ? 'stages' : 'constant'}
            onValue={(shape) => {
              const stages = readStages(load.stages)
              onLoad({
                ...load,
                pace: shape === 'stages' ? 'stages' : toConstant(unit),
                ...(shape === 'stages' &&
                  stages !== null && { stages: formatStages(changeUnit(stages, unit)) }),
              })
            }}
          />
        )}
      </Group>
      <p className={styles.quiet}>{MEANINGS[unit]}</p>
    </Stack>
  )
}

/** One level from the first request to the last, drawn and in figures. */
function ConstantFields({ load, mistakes, onLoad }: LoadFieldsProps) {
  const isRate = load.pace === 'open'
  const level = isRate ? load.ratePerSecond : load.concurrency
  const hasEnd = load.endsBy === 'duration'
  const durationMs = (hasEnd ? parseDurationMs(load.duration.trim()) : null) ?? 60_000
  const pace: StagesPace = {
    kind: 'stages',
    of: isRate ? 'rate' : 'concurrency',
    stages: [{ from: level, to: level, durationMs }],
  }
  const take = ({ stages: [stage] }: StagesPace) => {
    if (stage === undefined) return
    // Either end was moved: a constant load follows as a whole.
    const moved = stage.to === level ? stage.from : stage.to
    onLoad({
      ...load,
      ...(isRate ? { ratePerSecond: moved } : { concurrency: Math.max(1, moved) }),
      ...(hasEnd && { duration: formatDurationMs(stage.durationMs) }),
    })
  }
  return (
    <Stack gap="md">
      <Group gap="md" align="start">
        <LevelField
          label={isRate ? 'Requests a second' : 'Requests in flight'}
          isRate={isRate}
          load={load}
          mistakes={mistakes}
          onLoad={onLoad}
        />
        <Choice
          label="Ends after"
          options={ENDS}
          value={load.endsBy}
          onValue={(endsBy) => onLoad({ ...load, endsBy })}
        />
        {hasEnd ? (
          <TextInput
            label="Duration"
            w="8rem"
            value={load.duration}
            error={mistakes.duration}
            onChange={(event) => onLoad({ ...load, duration: event.currentTarget.value })}
          />
        ) : (
          <WholeNumber
            label="Requests in all"
            w="11rem"
            value={load.requests}
            max={1_000_000_000}
            onValue={(requests) => onLoad({ ...load, requests })}
          />
        )}
      </Group>
      {level > 0 && <LoadProfile pace={pace} hasEnd={hasEnd} onPace={take} />}
    </Stack>
  )
}

const ENDS = [
  { value: 'duration', label: 'a time' },
  { value: 'requests', label: 'requests' },
] as const

const FULL = [
  { value: 'wait', label: 'wait' },
  { value: 'drop', label: 'drop' },
] as const

const HTTP_VERSIONS = [
  { value: '1.1', label: 'HTTP/1.1' },
  { value: '2', label: 'HTTP/2' },
] as const

/** How requests are sent: around the load, at its limits, over which connections, and what is kept of them. */
function SendingFields({ load, mistakes, onLoad }: LoadFieldsProps) {
  const isRate = hasSchedule(load)
  const change = (part: Partial<LoadSettings>) => onLoad({ ...load, ...part })
  return (
    <Stack gap="lg">
      <FieldGroup title="Before and after">
        {load.goal === 'measure' && (
          <TextInput
            label="Warm-up"
            title="Requests of the warm-up are sent, but not measured."
            w="11rem"
            value={load.warmup}
            error={mistakes['warm-up']}
            onChange={(event) => change({ warmup: event.currentTarget.value })}
          />
        )}
        <TextInput
          label="Graceful stop"
          w="11rem"
          title="Requests in flight at the end get this long; then they are given up as unknown."
          value={load.gracefulStop}
          error={mistakes['graceful stop']}
          onChange={(event) => change({ gracefulStop: event.currentTarget.value })}
        />
        <WholeNumber
          label="Retries per request"
          w="11rem"
          title="Each retry counts as a request. What is sent again hides what is measured: 0 is usual."
          value={load.retries}
          min={0}
          max={100}
          onValue={(retries) => change({ retries })}
        />
      </FieldGroup>
      {isRate ? (
        <FieldGroup title="When the service is slower than the schedule">
          <OptionalNumber
            label="In flight, at most"
            placeholder="rate × timeout"
            value={load.maxInFlight}
            onValue={(maxInFlight) => change({ maxInFlight })}
          />
          <Choice
            label="At that limit, requests"
            options={FULL}
            value={load.whenFull}
            onValue={(whenFull) => change({ whenFull })}
          />
        </FieldGroup>
      ) : (
        <FieldGroup title="Think time before the next request">
          <TextInput
            label="From"
            placeholder="none"
            w="8rem"
            value={load.thinkFrom}
            error={mistakes['think time']}
            onChange={(event) => change({ thinkFrom: event.currentTarget.value })}
          />
          <TextInput
            label="To, drawn at random"
            placeholder="the same"
            w="10rem"
            value={load.thinkTo}
            onChange={(event) => change({ thinkTo: event.currentTarget.value })}
          />
        </FieldGroup>
      )}
      <FieldGroup title="Connections">
        <Choice
          label="Protocol"
          options={HTTP_VERSIONS}
          value={load.httpVersion}
          onValue={(httpVersion) => change({ httpVersion })}
        />
        {load.httpVersion === '2' && (
          <OptionalNumber
            label="Connections per thread, at most"
            placeholder="as needed"
            value={load.http2Connections}
            onValue={(http2Connections) => change({ http2Connections })}
          />
        )}
        <WholeNumber
          label="Sending threads"
          w="9rem"
          value={load.workers}
          max={64}
          error={mistakes['sending threads']}
          onValue={(workers) => change({ workers })}
        />
      </FieldGroup>
      <FieldGroup title="Requests kept in full">
        <WholeNumber
          label="Sample of all"
          w="9rem"
          value={load.sampleSize}
          min={0}
          max={KEPT_MAX}
          onValue={(sampleSize) => change({ sampleSize })}
        />
        <WholeNumber
          label="Failed ones, earliest first"
          w="12rem"
          value={load.errorLimit}
          min={0}
          max={KEPT_MAX}
          onValue={(errorLimit) => change({ errorLimit })}
        />
      </FieldGroup>
      {load.httpVersion === '2' && (
        <p className={styles.quiet}>HTTP/2 needs an https address; the sandbox speaks HTTP/1.1 only.</p>
      )}
    </Stack>
  )
}

function FieldGroup({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className={styles.fieldGroup}>
      <legend>{title}</legend>
      <Group gap="md" align="start">
        {children}
      </Group>
    </fieldset>
  )
}

/** A whole number, or nothing. */
function OptionalNumber(props: {
  label: string
  placeholder: string
  value: number | null
  onValue: (value: number | null) => void
}) {
  return (
    <NumberInput
      label={props.label}
      placeholder={props.placeholder}
      w="14rem"
      value={props.value ?? ''}
      min={1}
      max={IN_FLIGHT_MAX}
      clampBehavior="strict"
      allowDecimal={false}
      onChange={(value) => props.onValue(typeof value === 'number' ? value : null)}
    />
  )
}
