import type { LoadOverview } from '../../../shared/bridge/load.ts'
import { formatCount, formatMs, formatShare } from '../../ui/format-number.ts'
import { type Figure, Figures } from '../../ui/layout/figures.tsx'
import { Notice } from '../../ui/layout/notice.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import styles from './load.module.css'

/** Said before any figure: that this machine, and not the service, shaped some of them (docs/load-tests.md §1). */
export function GeneratorNotice({ limitedSeconds, reasons }: { limitedSeconds: number; reasons: string[] }) {
  return (
    <Notice kind="warning" title="Generator-limited: this machine was the bottleneck">
      It stalled or sent late
      {limitedSeconds === 0 ? '' : ` in ${formatCount(limitedSeconds)} of the measured seconds`}, so the
      figures below tell of it as well as of the service. Close what else is busy, or lower the pace.
      {reasons.length > 0 && (
        <ul className={styles.reasons}>
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
    </Notice>
  )
}

/** How the machine did that sent the load: whether its figures are to be believed. */
export function GeneratorPanel({ report }: { report: LoadOverview }) {
  const { generator, counts, seconds } = report
  const limited = seconds.filter((second) => second.limited).map(({ second }) => second)
  return (
    <Panel
      title="The machine that sent"
      aside={generator.limited ? 'the limit at times' : counts.sent === 0 ? 'nothing was sent' : 'kept up'}
    >
      <div className={styles.progress}>
        <Figures figures={toFigures(report)} />
        {limited.length > 0 && <p className={styles.plan}>Limited seconds: {formatSeconds(limited)}.</p>}
      </div>
    </Panel>
  )
}

function toFigures({ generator, measuredSeconds }: LoadOverview): Figure[] {
  const orNone = (ms: number | null) => (ms === null ? 'not watched' : formatMs(ms))
  const figures: Figure[] = []
  if (generator.achievedShare !== null) {
    figures.push({ label: 'Schedule achieved', value: formatShare(generator.achievedShare, 1) })
  }
  figures.push(
    {
      label: 'Seconds limited',
      value: formatCount(generator.limitedSeconds),
      unit: `of ${formatCount(measuredSeconds)}`,
    },
    ...(generator.startLagP99Ms === null
      ? []
      : [{ label: 'start_lag p99', value: formatMs(generator.startLagP99Ms) }]),
    { label: 'Longest stall', value: orNone(generator.eventLoopMaxMs), note: 'of the event loop' },
    {
      label: 'Garbage collections',
      value: formatCount(generator.gcPauses),
      ...(generator.gcMaxMs !== null &&
        generator.gcPauses > 0 && { note: `the longest ${formatMs(generator.gcMaxMs)}` }),
    },
    { label: 'Waited for their turn', value: formatCount(generator.waited), note: 'the cap was reached' },
  )
  return figures
}

const RANGES_MAX = 20

/** `3, 7–9, 40`: numbers that follow each other as ranges, a long list cut. */
function formatSeconds(seconds: readonly number[]): string {
  const ranges: [from: number, to: number][] = []
  for (const second of seconds) {
    const last = ranges.at(-1)
    if (last !== undefined && second === last[1] + 1) last[1] = second
    else ranges.push([second, second])
  }
  const shown = ranges.slice(0, RANGES_MAX).map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`))
  return `${shown.join(', ')}${ranges.length > RANGES_MAX ? ' and others' : ''}`
}
