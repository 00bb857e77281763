import { Group, Stack } from '@mantine/core'
import { useEffect, useState } from 'react'
import { IN_FLIGHT_MAX, RATE_MAX, type StagesPace } from '../../../shared/load/load-pace.ts'
import { formatDurationMs, parseDurationMs } from '../../../shared/messages/duration.ts'
import { ActionButton, NumberField, RowButton, TextField } from '../../ui/controls.tsx'
import { Table } from '../../ui/table/table.tsx'
import { LoadProfile } from './load-profile.tsx'
import styles from './operation.module.css'
import {
  addStage,
  changeDuration,
  changeLevels,
  createStages,
  formatStages,
  readStages,
  removeStage,
  STAGE_SHAPES,
} from './stages.ts'

/** Stages as a drawing and in figures, with the command line's text below, into which one can paste. */
export function StageEditor(props: {
  text: string
  /** What is wrong with the text; absent if it is valid. */
  mistake: string | undefined
  onText: (text: string) => void
}) {
  const { text, onText } = props
  // While the text is wrong, the last valid stages remain.
  const [last, setLast] = useState(() => readStages(text))
  const pace = readStages(text) ?? last
  useEffect(() => setLast((known) => readStages(text) ?? known), [text])
  const change = (changed: StagesPace) => onText(formatStages(changed))
  return (
    <Stack gap="sm">
      {pace !== null && (
        <>
          <Group gap="xs">
            <span className="quiet">Start from</span>
            {STAGE_SHAPES.map(({ shape, label, meaning }) => (
              <ActionButton
                label={label}
                key={shape}
                small
                title={meaning}
                onClick={() => change(createStages(shape, pace.of, toPeakOf(pace)))}
              />
            ))}
          </Group>
          <LoadProfile pace={pace} hasEnd onPace={change} />
          <StageTable pace={pace} onPace={change} />
        </>
      )}
      <TextField
        label="Stages as text"
        description="As the command line takes it: 10@30s holds 10 for 30 s, 10..50@1m ramps from 10 to 50. Start with concurrency: for requests in flight."
        isLiteral
        value={text}
        error={props.mistake}
        onValue={onText}
      />
    </Stack>
  )
}

function toPeakOf({ stages }: StagesPace): number {
  return Math.max(...stages.flatMap(({ from, to }) => [from, to]))
}

function StageTable({ pace, onPace }: { pace: StagesPace; onPace: (pace: StagesPace) => void }) {
  const unit = pace.of === 'rate' ? 'requests/s' : 'in flight'
  const level = (index: number, end: 'from' | 'to', value: number) => (
    <NumberField
      size="xs"
      w="7rem"
      hideControls
      aria-label={`Stage ${index + 1}, ${end === 'from' ? 'start' : 'end'} (${unit})`}
      value={value}
      min={0}
      max={pace.of === 'rate' ? RATE_MAX : IN_FLIGHT_MAX}
      decimalScale={pace.of === 'rate' ? 3 : 0}
      clampBehavior="strict"
      onValue={(typed) => {
        if (typed !== null && typed !== value) onPace(changeLevels(pace, index, { [end]: typed }))
      }}
    />
  )
  return (
    <Table
      look="plain"
      className={styles.stages}
      caption="Stages of the load"
      rows={pace.stages}
      columns={[
        { title: 'Stage', cell: (_, index) => index + 1 },
        { title: `From (${unit})`, cell: ({ from }, index) => level(index, 'from', from) },
        { title: `To (${unit})`, cell: ({ to }, index) => level(index, 'to', to) },
        {
          title: 'Duration',
          cell: ({ durationMs }, index) => (
            <DurationField
              label={`Stage ${index + 1}, duration`}
              valueMs={durationMs}
              onValue={(ms) => onPace(changeDuration(pace, index, ms))}
            />
          ),
        },
        {
          title: 'Actions',
          isTitleHidden: true,
          cell: (_, index) => (
            <Group gap={4} wrap="nowrap">
              <RowButton
                label="Add after"
                name={`Add after stage ${index + 1}`}
                onPress={() => onPace(addStage(pace, index))}
              />
              <RowButton
                label="Remove"
                name={`Remove stage ${index + 1}`}
                isDisabled={pace.stages.length === 1}
                onPress={() => onPace(removeStage(pace, index))}
              />
            </Group>
          ),
        },
      ]}
    />
  )
}

/** A duration as typed; an invalid one is marked and changes nothing. */
function DurationField(props: { label: string; valueMs: number; onValue: (ms: number) => void }) {
  const { valueMs } = props
  const [text, setText] = useState(formatDurationMs(valueMs))
  useEffect(
    () => setText((typed) => (parseDurationMs(typed) === valueMs ? typed : formatDurationMs(valueMs))),
    [valueMs],
  )
  const ms = parseDurationMs(text.trim())
  return (
    <TextField
      size="xs"
      w="7rem"
      aria-label={props.label}
      value={text}
      error={ms === null || ms === 0 ? 'such as 30s or 1m30s' : undefined}
      onValue={(typed) => {
        setText(typed)
        const typedMs = parseDurationMs(typed.trim())
        if (typedMs !== null && typedMs > 0) props.onValue(typedMs)
      }}
    />
  )
}
