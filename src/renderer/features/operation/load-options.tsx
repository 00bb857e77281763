import { Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { CAPACITY_WARNING } from '../../../shared/load/capacity-view.ts'
import { IN_FLIGHT_MAX, RATE_MAX, type StagesPace } from '../../../shared/load/load-pace.ts'
import { formatDurationMs, parseDurationMs } from '../../../shared/messages/duration.ts'
import { CAPACITY_OPTIONS, MAX_FACTOR } from '../../../shared/options/capacity-options.ts'
import { LOAD_OPTIONS, LOAD_SECTIONS } from '../../../shared/options/load-options.ts'
import type { PlanOption } from '../../../shared/options/option.ts'
import { bindFields, NumberField, TextField, WholeNumber } from '../../ui/controls.tsx'
import { Notice, Panel } from '../../ui/layout/screen.tsx'
import { Choice, InputGroup, OptionInputs } from '../../ui/options/option-inputs.tsx'
import { isOfUse } from '../../ui/options/typed-options.ts'
import { LoadProfile } from './load-profile.tsx'
import {
  findLoadMistakes,
  hasSchedule,
  type LoadMistakes,
  type LoadSettings,
  listCircumstances,
  type SearchSettings,
} from './load-settings.ts'
import styles from './operation.module.css'
import { StageEditor } from './stage-editor.tsx'
import { changeUnit, formatStages, type LevelUnit, readStages } from './stages.ts'
import { ThresholdEditor } from './threshold-editor.tsx'

interface LoadFieldsProps {
  load: LoadSettings
  mistakes: LoadMistakes
  onLoad: (load: LoadSettings) => void
}

/** How hard and how long a load test sends, its thresholds, and how requests are sent. */
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
              mistake={fields.mistakes['stages']}
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
          mistake={fields.mistakes['thresholds']}
          onText={(thresholds) => onLoad({ ...load, thresholds })}
        />
      </Panel>
      <Panel title="Sending">
        <SendingFields {...fields} />
      </Panel>
    </div>
  )
}

/** The role of thresholds, by goal. */
const THRESHOLDS_ARE = {
  measure: 'Limits for a passing test. Without any, it cannot fail.',
  capacity: 'A level holds if all of them hold.',
} satisfies Record<LoadSettings['goal'], string>

const GOALS = [
  ['measure', 'Measure a load'],
  ['capacity', 'Find the capacity'],
] as const

const UNITS = [
  ['rate', 'Arrival rate'],
  ['concurrency', 'Concurrency'],
] as const

const SHAPES = [
  ['constant', 'Constant'],
  ['stages', 'Stages'],
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
          choices={GOALS}
          value={load.goal}
          onValue={(goal) =>
            onLoad({ ...load, goal, ...(goal === 'capacity' && { pace: toConstant(unit) }) })
          }
        />
        <Choice label="Pace" choices={UNITS} value={unit} onValue={changeLevelUnit} />
        {load.goal === 'measure' && (
          <Choice
            label="Shape"
            choices={SHAPES}
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
      <p className="quiet">{MEANINGS[unit]}</p>
    </Stack>
  )
}

/** One level from the first request to the last, as a drawing and in figures. */
function ConstantFields(props: LoadFieldsProps) {
  const { load, mistakes, onLoad } = props
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
    // Whichever end was moved, a constant load follows as a whole.
    const moved = stage.to === level ? stage.from : stage.to
    onLoad({
      ...load,
      ...(isRate ? { ratePerSecond: moved } : { concurrency: Math.max(1, moved) }),
      ...(hasEnd && { duration: formatDurationMs(stage.durationMs) }),
    })
  }
  const field = bindFields(load, (part) => onLoad({ ...load, ...part }))
  return (
    <Stack gap="md">
      <Group gap="md" align="start">
        <LevelField {...props} label={isRate ? 'Requests a second' : 'Requests in flight'} isRate={isRate} />
        <Choice label="Ends after" choices={ENDS} {...field('endsBy')} />
        {hasEnd ? (
          <TextField label="Duration" w="8rem" {...field('duration')} error={mistakes['duration']} />
        ) : (
          <WholeNumber label="Requests in all" w="11rem" {...field('requests')} max={1_000_000_000} />
        )}
      </Group>
      {level > 0 && <LoadProfile pace={pace} hasEnd={hasEnd} onPace={take} />}
    </Stack>
  )
}

const ENDS = [
  ['duration', 'a time'],
  ['requests', 'requests'],
] as const

/** How requests are sent: before and after the load, its limits, over which connections, which are kept. */
function SendingFields({ load, mistakes, onLoad }: LoadFieldsProps) {
  const circumstances = listCircumstances(load)
  const isUsed = (section: string) =>
    Object.values<PlanOption>(LOAD_OPTIONS).some(
      (one) => one.section === section && isOfUse(one, circumstances),
    )
  const others: Partial<Record<string, ReactNode>> = {
    around: (
      <WholeNumber
        label="Retries per request"
        w="11rem"
        title="Each retry counts as a request. What is sent again hides what is measured: 0 is usual."
        value={load.retries}
        min={0}
        max={100}
        onValue={(retries) => onLoad({ ...load, retries })}
      />
    ),
    think: <ThinkTimeFields load={load} mistakes={mistakes} onLoad={onLoad} />,
  }
  return (
    <Stack gap="lg">
      {Object.entries(LOAD_SECTIONS).map(([section, { title }]) =>
        title === null || !isUsed(section) ? null : (
          <InputGroup key={section} title={title}>
            <OptionInputs
              table={LOAD_OPTIONS}
              section={section}
              // Each probe of a search has its own warm-up.
              without={load.goal === 'capacity' ? ['warmupMs'] : []}
              circumstances={circumstances}
              values={load}
              mistakes={mistakes}
              onChange={(change) => onLoad({ ...load, ...change })}
            />
            {others[section]}
          </InputGroup>
        ),
      )}
      {load.httpVersion === '2' && (
        <p className="quiet">HTTP/2 needs an https address; the sandbox speaks HTTP/1.1 only.</p>
      )}
    </Stack>
  )
}

function ThinkTimeFields({ load, mistakes, onLoad }: LoadFieldsProps) {
  const field = bindFields(load, (part) => onLoad({ ...load, ...part }))
  return (
    <>
      <TextField
        label="From"
        placeholder="none"
        w="8rem"
        {...field('thinkFrom')}
        error={mistakes['think time']}
      />
      <TextField label="To, drawn at random" placeholder="the same" w="10rem" {...field('thinkTo')} />
    </>
  )
}

/** Where a capacity search begins, its limits, and its effect on the service. */
function CapacityFields(props: LoadFieldsProps) {
  const { load, mistakes, onLoad } = props
  const { search } = load
  const isRate = hasSchedule(load)
  const change = (part: Partial<SearchSettings>) => onLoad({ ...load, search: { ...search, ...part } })
  const fields = { table: CAPACITY_OPTIONS, values: search, mistakes, onChange: change }
  const field = bindFields(search, change)
  return (
    <Stack gap="md">
      <Notice kind="warning" title="What a capacity search does">
        {CAPACITY_WARNING} Each probe is a load test of its own in the list of runs.
      </Notice>
      <Group gap="md" align="start">
        <LevelField
          {...props}
          label={isRate ? 'First level (requests/s)' : 'First level (in flight)'}
          isRate={isRate}
        />
        <NumberField
          label="Highest level to send"
          placeholder={`${MAX_FACTOR} times the first`}
          w="12rem"
          {...field('max')}
          min={0}
          max={isRate ? RATE_MAX : IN_FLIGHT_MAX}
          decimalScale={isRate ? 3 : 0}
          error={mistakes['highest level']}
        />
        <OptionInputs {...fields} section="bounds" />
      </Group>
      <Group gap="md" align="start">
        <TextField
          label="Each probe measures"
          w="10rem"
          {...field('measured')}
          error={mistakes['probe duration']}
        />
        <TextField label="After a warm-up of" w="10rem" {...field('warmup')} error={mistakes['warm-up']} />
        <OptionInputs {...fields} section="pause" />
      </Group>
    </Stack>
  )
}

/** The constant level of a load: requests a second, or requests in flight. */
function LevelField(props: LoadFieldsProps & { label: string; isRate: boolean }) {
  const { label, load, onLoad } = props
  return props.isRate ? (
    <NumberField
      label={label}
      w="11rem"
      value={load.ratePerSecond}
      min={0}
      max={RATE_MAX}
      decimalScale={3}
      error={props.mistakes['rate']}
      onValue={(value) => value !== null && onLoad({ ...load, ratePerSecond: value })}
    />
  ) : (
    <WholeNumber
      label={label}
      w="11rem"
      value={load.concurrency}
      max={IN_FLIGHT_MAX}
      onValue={(concurrency) => onLoad({ ...load, concurrency })}
    />
  )
}
