import { Group, Select } from '@mantine/core'
import { useState } from 'react'
import type { SandboxBehaviour } from '../../../shared/bridge/sandbox.ts'
import type { BehaviourChange } from '../../../shared/sandbox/behaviour.ts'
import { ActionButton, NumberField, TextField } from '../../ui/controls.tsx'
import { Columns, ErrorNotice, Panel } from '../../ui/layout/screen.tsx'
import { EditorPanel } from './editor-panel.tsx'
import { FaultEditor } from './fault-editor.tsx'
import { LatencyEditor } from './latency-editor.tsx'
import styles from './sandbox.module.css'
import { useBehaviour } from './use-sandbox.ts'

/** What one presses to see how a run copes. */
const PRESETS: readonly { label: string; change: BehaviourChange }[] = [
  { label: '5 % of requests fail', change: { faults: ['5xx=5%'] } },
  { label: '10 % are 429 with Retry-After', change: { faults: ['429=10%,retry-after=2'] } },
  { label: 'Every first try fails', change: { faults: ['503=100%,tries=1'] } },
  { label: 'Connections break', change: { faults: ['reset=3%', 'truncated=2%'] } },
  { label: 'Slow answers', change: { latency: '800ms±300ms|5000ms@2%' } },
  { label: 'Slow callbacks', change: { callbacks: 'delay=10s±5s' } },
  { label: 'Callbacks lost and doubled', change: { callbacks: 'delay=1s±400ms,shuffle,drop=5%,double=5%' } },
]

/** How the sandbox answers: presets, and each setting by hand. */
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

/** When callbacks come, as a setting of several parts. */
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

/** How much the sandbox takes, and what it answers where the interface leaves it open. */
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
      {...{ label, description, max }}
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
          onChange={(value) => set({ failedTerms: value === 'strings' ? 'strings' : 'objects' })}
        />
        <Select
          label="Codes of watchlist add"
          description="How statuses and codes pair"
          data={[
            { value: 'consistent', label: 'as of watchlist update' },
            { value: 'contradictory', label: 'swapped' },
          ]}
          value={limits.watchlistAddCodes}
          onChange={(value) =>
            set({ watchlistAddCodes: value === 'contradictory' ? 'contradictory' : 'consistent' })
          }
        />
      </div>
    </EditorPanel>
  )
}
