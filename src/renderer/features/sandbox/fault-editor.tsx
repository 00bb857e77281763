import { Select } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import type { Fault } from '../../../shared/sandbox/behaviour.ts'
import { formatFault, hasMoment, toUsualMoment } from '../../../shared/sandbox/setting-texts.ts'
import { ActionButton, NumberField } from '../../ui/controls.tsx'
import { EditorPanel } from './editor-panel.tsx'
import styles from './sandbox.module.css'

const KINDS: Record<string, { label: string; kind: Fault['kind']; status: number | null }> = {
  '5xx': { label: '500, 502, 503 or 504', kind: 'status', status: null },
  status: { label: 'a status of your own', kind: 'status', status: 429 },
  reset: { label: 'connection reset', kind: 'reset', status: 200 },
  stall: { label: 'no answer', kind: 'stall', status: 200 },
  'broken-json': { label: 'half of the JSON', kind: 'broken-json', status: 200 },
  truncated: { label: 'connection ends in the body', kind: 'truncated', status: 200 },
  html: { label: 'an HTML page', kind: 'html', status: 200 },
}

const MOMENTS = [
  { value: 'before', label: 'before it takes effect' },
  { value: 'after', label: 'after it took effect' },
  { value: 'either', label: 'either, equally likely' },
]

type Draft = Omit<Fault, 'name'>

const NEW: Draft = {
  ...{ kind: 'status', share: 0.05, moment: 'before', status: null },
  ...{ retryAfterS: null, tries: null, stallMs: null },
}

/** What goes wrong, and how often. */
export function FaultEditor(props: { faults: readonly Fault[]; onApply: (faults: string[]) => void }) {
  const [faults, setFaults] = useState<readonly Draft[]>(props.faults)
  const texts = faults.map(formatFault)
  const change = (at: number, part: Partial<Draft>) =>
    setFaults((known) => known.map((fault, index) => (index === at ? { ...fault, ...part } : fault)))
  const isChanged = texts.join() !== props.faults.map(formatFault).join()
  return (
    <EditorPanel
      title="Faults"
      aside={isChanged ? `now ${sayShare(props.faults)}` : sayShare(props.faults)}
      isChanged={isChanged}
      onApply={() => props.onApply(texts)}
      onUndo={() => setFaults(props.faults)}
    >
      {faults.map((fault, index) => (
        <FaultFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a fault is known by its place alone
          key={index}
          fault={fault}
          onChange={(part) => change(index, part)}
          onRemove={() => setFaults(faults.filter((_, at) => at !== index))}
        />
      ))}
      <ActionButton
        label="Add a fault"
        variant="subtle"
        small
        icon={IconPlus}
        onClick={() => setFaults([...faults, NEW])}
      />
      {faults.length > 0 && (
        <p className={`quiet max-w-text ${styles.note}`}>
          The seed decides which requests fail: the same requests always meet the same faults.
        </p>
      )}
    </EditorPanel>
  )
}

/** How many requests meet faults. */
function sayShare(faults: readonly Draft[]): string {
  const total = faults.reduce((sum, { share }) => sum + share, 0)
  return faults.length === 0
    ? 'none: every request is answered'
    : `${Number((total * 100).toFixed(2))} % of requests`
}

function FaultFields(props: {
  fault: Draft
  onChange: (part: Partial<Draft>) => void
  onRemove: () => void
}) {
  const { fault, onChange } = props
  const { kind, status } = fault
  const name = kind === 'status' && status !== null ? 'status' : kind === 'status' ? '5xx' : kind
  const optional = (
    field: 'retryAfterS' | 'tries' | 'stallMs',
    label: string,
    min: number,
    placeholder: string,
  ) => (
    <NumberField
      {...{ label, min, placeholder }}
      max={3_600_000}
      allowDecimal={false}
      value={fault[field]}
      onValue={(value) => onChange({ [field]: value })}
    />
  )
  return (
    <fieldset className={`flex flex-wrap items-end gap-3 p-0 border-0 ${styles.fields}`}>
      <legend className="visually-hidden">{formatFault(fault)}</legend>
      <Select
        label="What goes wrong"
        data={Object.entries(KINDS).map(([value, { label }]) => ({ value, label }))}
        value={name}
        onChange={(value) => {
          const chosen = KINDS[value ?? '5xx']
          if (chosen === undefined) return
          onChange({
            ...{ kind: chosen.kind, status: chosen.status, moment: toUsualMoment(chosen.kind) },
            ...{ retryAfterS: chosen.status === 429 ? 1 : null, stallMs: null },
          })
        }}
      />
      {((kind === 'status' && status !== null) || kind === 'html') && (
        <NumberField
          label="Status"
          min={kind === 'html' ? 200 : 400}
          max={599}
          allowDecimal={false}
          value={status ?? 200}
          onValue={(value) => value !== null && onChange({ status: value })}
        />
      )}
      <NumberField
        label="Share of requests (%)"
        min={0}
        max={100}
        decimalScale={2}
        value={Number((fault.share * 100).toFixed(2))}
        onValue={(value) => value !== null && onChange({ share: value / 100 })}
      />
      {hasMoment(kind) && (
        <Select
          label="When"
          data={kind === 'stall' ? MOMENTS : MOMENTS.slice(0, 2)}
          value={fault.moment}
          onChange={(value) =>
            onChange({ moment: value === 'after' || value === 'either' ? value : 'before' })
          }
        />
      )}
      {kind === 'status' && optional('retryAfterS', 'Retry-After (s)', 0, 'no header')}
      {kind === 'stall' && optional('stallMs', 'Answer after (ms)', 1, 'never')}
      {optional('tries', 'First tries only', 1, 'every try')}
      <ActionButton label="Remove" variant="subtle" small onClick={props.onRemove} />
    </fieldset>
  )
}
