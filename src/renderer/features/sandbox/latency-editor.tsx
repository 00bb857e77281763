import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { formatMs } from '../../../shared/messages/figure-text.ts'
import type { LatencyMode } from '../../../shared/sandbox/behaviour.ts'
import { formatLatency, toLatencyBars } from '../../../shared/sandbox/setting-texts.ts'
import { ActionButton, NumberField } from '../../ui/controls.tsx'
import { EditorPanel } from './editor-panel.tsx'
import styles from './sandbox.module.css'

const SLOWER: LatencyMode = { baseMs: 1_000, jitterMs: 200, share: 0.05 }

/** How long answers take: one or several modes, each with its share, drawn as they would come. */
export function LatencyEditor(props: { modes: readonly LatencyMode[]; onApply: (latency: string) => void }) {
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

/** The first mode has what the others leave. */
function withFirstShare(modes: readonly LatencyMode[]): readonly LatencyMode[] {
  const [first, ...others] = modes
  if (first === undefined) return modes
  const taken = others.reduce((sum, { share }) => sum + share, 0)
  return [{ ...first, share: Math.max(0, 1 - taken) }, ...others]
}

const WIDTH = 600
const HEIGHT = 72

/** The times that answers take: as wide as they spread, as high as their share. */
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
