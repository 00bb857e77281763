import { Group, Select } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { SandboxBehaviour, SandboxState } from '../../../shared/bridge/sandbox.ts'
import { formatMs } from '../../../shared/messages/figure-text.ts'
import type { BehaviourChange, Fault, LatencyMode } from '../../../shared/sandbox/behaviour.ts'
import {
  formatFault,
  formatLatency,
  hasMoment,
  toLatencyBars,
  toUsualMoment,
} from '../../../shared/sandbox/setting-texts.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { ActionButton, NumberField, TextField } from '../../ui/controls.tsx'
import { Columns, ErrorNotice, Notice, Panel } from '../../ui/layout/screen.tsx'
import styles from './sandbox.module.css'

/** Settings to apply with one press, to see how a run copes. */
const PRESETS: readonly { label: string; change: BehaviourChange }[] = [
  { label: '5 % of requests fail', change: { faults: ['5xx=5%'] } },
  { label: '10 % are 429 with Retry-After', change: { faults: ['429=10%,retry-after=2'] } },
  { label: 'Every first try fails', change: { faults: ['503=100%,tries=1'] } },
  { label: 'Connections break', change: { faults: ['reset=3%', 'truncated=2%'] } },
  { label: 'Slow answers', change: { latency: '800ms±300ms|5000ms@2%' } },
  { label: 'Slow callbacks', change: { callbacks: 'delay=10s±5s' } },
  { label: 'Callbacks lost and doubled', change: { callbacks: 'delay=1s±400ms,shuffle,drop=5%,double=5%' } },
]

/** How the sandbox answers: presets, and each setting. */
export function BehaviourPanels({ behaviour }: { behaviour: SandboxBehaviour }) {
  const { behave, error, reset } = useBehaviour()
  return (
    <>
      <Panel title="Presets" aside="apply at once; the settings below after Apply">
        <Group gap="xs">
          {PRESETS.map(({ label, change }) => (
            <ActionButton label={label} key={label} small onClick={() => behave(change)} />
          ))}
          <ActionButton
            label="Back to the defaults"
            small
            onClick={() =>
              behave({ latency: '110ms±70ms', faults: [], callbacks: 'delay=1s±400ms', ratePerSecond: null })
            }
          />
        </Group>
      </Panel>
      {error !== null && <ErrorNotice error={error} onDismiss={reset} />}
      <Columns least="48rem" areApart>
        <LatencyEditor
          key={behaviour.latency}
          modes={behaviour.modes}
          onApply={(latency) => behave({ latency })}
        />
        <FaultEditor
          key={behaviour.faults.join()}
          faults={behaviour.readFaults}
          onApply={(faults) => behave({ faults })}
        />
        <CallbacksEditor key={`callbacks ${behaviour.callbacks}`} behaviour={behaviour} onApply={behave} />
        <LimitsEditor key={toLimitsKey(behaviour)} behaviour={behaviour} onApply={behave} />
      </Columns>
    </>
  )
}

interface EditorProps {
  behaviour: SandboxBehaviour
  onApply: (change: BehaviourChange) => void
}

/** When callbacks arrive, a setting with several parts. */
function CallbacksEditor({ behaviour, onApply }: EditorProps) {
  const [callbacks, setCallbacks] = useState(behaviour.callbacks)
  return (
    <EditorPanel
      title="Callbacks"
      isChanged={callbacks !== behaviour.callbacks}
      onApply={() => onApply({ callbacks })}
      onUndo={() => setCallbacks(behaviour.callbacks)}
    >
      <TextField
        label="When and how callbacks are posted"
        description="Parts with commas between: delay=1s±400ms, shuffle=500ms, early=5%, late=1%@2s, drop=0.5%, double=5%, attempts=12, backoff=200ms, timeout=10s, connections=32. Empty: at once."
        value={callbacks}
        onValue={setCallbacks}
      />
    </EditorPanel>
  )
}

function toLimitsKey(behaviour: SandboxBehaviour): string {
  const { ratePerSecond, slots, maxTermsPerRequest, failedTerms, watchlistAddCodes } = behaviour
  return [ratePerSecond, slots, maxTermsPerRequest, failedTerms, watchlistAddCodes].join()
}

/** What the sandbox accepts, and its answers where the interface leaves these open. */
function LimitsEditor({ behaviour, onApply }: EditorProps) {
  const { ratePerSecond, slots, maxTermsPerRequest, failedTerms, watchlistAddCodes } = behaviour
  const known = { ratePerSecond, slots, maxTermsPerRequest, failedTerms, watchlistAddCodes }
  const [limits, setLimits] = useState(known)
  const set = (part: Partial<typeof limits>) => setLimits((before) => ({ ...before, ...part }))
  const limit = (
    name: 'ratePerSecond' | 'slots' | 'maxTermsPerRequest',
    label: string,
    description: string,
    max: number,
  ) => (
    <NumberField
      label={label}
      description={description}
      max={max}
      min={1}
      placeholder="no limit"
      thousandSeparator=","
      allowDecimal={name === 'ratePerSecond'}
      value={limits[name]}
      onValue={(value) => set({ [name]: value })}
    />
  )
  return (
    <EditorPanel
      title="Limits and answers"
      isChanged={JSON.stringify(limits) !== JSON.stringify(known)}
      onApply={() => onApply(limits)}
      onUndo={() => setLimits(known)}
    >
      <div className={`flex flex-wrap items-end gap-3 p-0 border-0 ${styles.fields}`}>
        {limit('ratePerSecond', 'Requests a second', 'More are answered 429', 1_000_000)}
        {limit('slots', 'Requests at once', 'Others wait their turn', 10_000)}
        {limit('maxTermsPerRequest', 'Terms per request', 'More are answered 413', 1_000_000)}
        <Select
          label="failed_terms holds"
          description="In answers of watchlists"
          data={[
            { value: 'objects', label: 'terms with their notes' },
            { value: 'strings', label: 'their texts alone' },
          ]}
          value={limits.failedTerms}
          onChange={(failedTerms) => failedTerms !== null && set({ failedTerms })}
        />
        <Select
          label="Codes of watchlist add"
          description="How statuses and codes pair"
          data={[
            { value: 'consistent', label: 'as of watchlist update' },
            { value: 'contradictory', label: 'swapped' },
          ]}
          value={limits.watchlistAddCodes}
          onChange={(watchlistAddCodes) => watchlistAddCodes !== null && set({ watchlistAddCodes })}
        />
      </div>
    </EditorPanel>
  )
}

const SLOWER: LatencyMode = { baseMs: 1_000, jitterMs: 200, share: 0.05 }

/** How long answers take: one or several modes, each with its share, and a drawing. */
function LatencyEditor(props: { modes: readonly LatencyMode[]; onApply: (latency: string) => void }) {
  const [modes, setModes] = useState<readonly LatencyMode[]>(props.modes)
  const change = (at: number, part: Partial<LatencyMode>) =>
    setModes((known) =>
      withFirstShare(known.map((mode, index) => (index === at ? { ...mode, ...part } : mode))),
    )
  const text = formatLatency(modes)
  return (
    <EditorPanel
      title="Latency"
      aside={
        <span>
          in a terminal: <code>--latency &apos;{text}&apos;</code>
        </span>
      }
      isChanged={text !== formatLatency(props.modes)}
      onApply={() => props.onApply(text)}
      onUndo={() => setModes(props.modes)}
    >
      <LatencyDrawing modes={modes} />
      {modes.map((mode, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a mode is known by its place alone
        <fieldset key={index} className={`flex flex-wrap items-end gap-3 p-0 border-0 ${styles.fields}`}>
          <legend className="visually-hidden">
            {index === 0 ? 'Usual answers' : `Rarer answers ${index}`}
          </legend>
          <NumberField
            label={index === 0 ? 'Usually (ms)' : 'Rarely (ms)'}
            min={0}
            max={3_600_000}
            value={mode.baseMs}
            onValue={(value) => value !== null && change(index, { baseMs: value })}
          />
          <NumberField
            label="Give or take (ms)"
            min={0}
            max={mode.baseMs}
            value={mode.jitterMs}
            onValue={(value) => value !== null && change(index, { jitterMs: value })}
          />
          <NumberField
            label="Share of answers (%)"
            min={0}
            max={100}
            decimalScale={2}
            readOnly={index === 0}
            {...(index === 0 && { title: 'What the others leave' })}
            value={Number((mode.share * 100).toFixed(2))}
            onValue={(value) => value !== null && change(index, { share: value / 100 })}
          />
          {index > 0 && (
            <ActionButton
              label="Remove"
              variant="subtle"
              small
              onClick={() => setModes(withFirstShare(modes.filter((_, at) => at !== index)))}
            />
          )}
        </fieldset>
      ))}
      <ActionButton
        label="Add rarer answers"
        variant="subtle"
        small
        icon={IconPlus}
        onClick={() => setModes(withFirstShare([...modes, SLOWER]))}
      />
    </EditorPanel>
  )
}

/** The first mode gets the share that the others leave. */
function withFirstShare(modes: readonly LatencyMode[]): readonly LatencyMode[] {
  const [first, ...others] = modes
  if (first === undefined) return modes
  const taken = others.reduce((sum, { share }) => sum + share, 0)
  return [{ ...first, share: Math.max(0, 1 - taken) }, ...others]
}

const WIDTH = 600
const HEIGHT = 72

/** The times of answers: each mode as wide as its spread, and as high as its share. */
function LatencyDrawing({ modes }: { modes: readonly LatencyMode[] }) {
  const { endMs, bars } = toLatencyBars(modes)
  const toX = (ms: number) => (ms / endMs) * WIDTH
  const said = bars.map(
    ({ fromMs, toMs, share }) =>
      `${Number((share * 100).toFixed(2))} % take ${fromMs === toMs ? formatMs(toMs) : `${formatMs(fromMs)} to ${formatMs(toMs)}`}`,
  )
  return (
    <figure className={styles.drawing}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
        <line x1="0" x2={WIDTH} y1={HEIGHT - 1} y2={HEIGHT - 1} stroke="var(--line-strong)" />
        {bars.map(({ fromMs, toMs, share }, index) => {
          const height = Math.max(6, share * (HEIGHT - 8))
          return (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: a bar is known by its place alone
              key={index}
              fill="var(--chart-1)"
              x={toX(fromMs)}
              width={Math.max(4, toX(toMs - fromMs))}
              y={HEIGHT - 1 - height}
              height={height}
            />
          )
        })}
      </svg>
      <div className="small flex justify-between" aria-hidden>
        <span>0 ms</span>
        <span>{formatMs(endMs / 2)}</span>
        <span>{formatMs(endMs)}</span>
      </div>
      <figcaption className={`quiet max-w-text ${styles.note}`}>{said.join('; ')}</figcaption>
    </figure>
  )
}

const KINDS: Record<string, { label: string; kind: Fault['kind']; status: number | null }> = {
  '5xx': { label: '500, 502, 503 or 504', kind: 'status', status: null },
  status: { label: 'a status of your own', kind: 'status', status: 429 },
  reset: { label: 'connection reset', kind: 'reset', status: 200 },
  stall: { label: 'no answer', kind: 'stall', status: 200 },
  'broken-json': { label: 'half of the JSON', kind: 'broken-json', status: 200 },
  truncated: { label: 'connection ends in the body', kind: 'truncated', status: 200 },
  html: { label: 'an HTML page', kind: 'html', status: 200 },
}

const MOMENTS: { value: Fault['moment']; label: string }[] = [
  { value: 'before', label: 'before it takes effect' },
  { value: 'after', label: 'after it took effect' },
  { value: 'either', label: 'either, equally likely' },
]

type Draft = Omit<Fault, 'name'>

const NEW: Draft = {
  kind: 'status',
  share: 0.05,
  moment: 'before',
  status: null,
  retryAfterS: null,
  tries: null,
  stallMs: null,
}

function FaultEditor(props: { faults: readonly Fault[]; onApply: (faults: string[]) => void }) {
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
      label={label}
      min={min}
      placeholder={placeholder}
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
            kind: chosen.kind,
            status: chosen.status,
            moment: toUsualMoment(chosen.kind),
            retryAfterS: chosen.status === 429 ? 1 : null,
            stallMs: null,
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
          onChange={(moment) => moment !== null && onChange({ moment })}
        />
      )}
      {kind === 'status' && optional('retryAfterS', 'Retry-After (s)', 0, 'no header')}
      {kind === 'stall' && optional('stallMs', 'Answer after (ms)', 1, 'never')}
      {optional('tries', 'First tries only', 1, 'every try')}
      <ActionButton label="Remove" variant="subtle" small onClick={props.onRemove} />
    </fieldset>
  )
}

/** A panel of settings that are applied together, after one of them was changed. */
function EditorPanel(props: {
  title: string
  aside?: ReactNode
  isChanged: boolean
  onApply: () => void
  onUndo: () => void
  children: ReactNode
}) {
  return (
    <Panel title={props.title} aside={props.aside}>
      {props.children}
      {props.isChanged && (
        <Group gap="xs" mt="sm">
          <ActionButton label="Apply" variant="filled" onClick={props.onApply} />
          <ActionButton label="Undo changes" onClick={props.onUndo} />
          <span role="status">Not applied yet</span>
        </Group>
      )}
    </Panel>
  )
}

/** The sandbox's state, refreshed every two seconds, since runs and other windows use it too. */
export function useSandbox() {
  return useQuery({ ...ask.sandbox.read.queryOptions(), refetchInterval: 2_000 })
}

/** Says that something was removed, and offers undo. */
export function RemovedNotice({ title, onUndo }: { title: ReactNode; onUndo: () => void }) {
  return <Notice kind="info" title={title} actions={<ActionButton label="Undo" small onClick={onUndo} />} />
}

/** Changes the sandbox and shows its new state. */
export function useSandboxChange() {
  return useMutation({
    mutationFn: (make: () => Promise<SandboxState>) => make(),
    onSuccess: async (state) => {
      queryClient.setQueryData(ask.sandbox.read.queryKey(), state)
      // The app's description includes the address.
      await queryClient.invalidateQueries({ queryKey: ask.app.describe.queryKey() })
    },
  })
}

function useBehaviour() {
  const change = useSandboxChange()
  return {
    ...change,
    behave: (settings: BehaviourChange) => change.mutate(() => bridge.sandbox.behave(settings)),
  }
}
