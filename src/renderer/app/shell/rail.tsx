import {
  type Icon,
  IconActivity,
  IconArrowsDiff,
  IconArrowsSplit2,
  IconChartLine,
  IconCheck,
  IconDownload,
  IconGauge,
  IconList,
  IconListCheck,
  IconListDetails,
  IconListSearch,
  IconPlugConnected,
  IconReportAnalytics,
  IconSend,
  IconTable,
  IconTags,
  IconTargetArrow,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import iconUrl from '../../icon.svg'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { type Route, type RunPlace, toHash } from '../route.ts'
import styles from './shell.module.css'

/** One entry of the rail. */
interface RailEntry {
  label: string
  icon: Icon
  route: Route
  /** Why it cannot be opened yet; absent where it can. */
  closed?: string
  done?: boolean
}

/** A heading and the entries under it. */
interface RailGroup {
  heading: string
  /** What the group is about, such as a run's name. */
  about?: string
  entries: RailEntry[]
}

/** What is there whatever is being prepared or looked at. */
const PLACES: readonly RailEntry[] = [
  { label: 'Runs', icon: IconList, route: { kind: 'runs' } },
  { label: 'Compare', icon: IconArrowsDiff, route: { kind: 'compare', runIds: [] } },
  { label: 'Lists', icon: IconListDetails, route: { kind: 'lists', of: 'index' } },
  { label: 'Connections', icon: IconPlugConnected, route: { kind: 'connections' } },
]

/**
 * The rail of screens: home, the steps of the run being prepared, the screens of the run being looked at. In a narrow
 * window each name stands under its icon.
 */
export function Rail(props: { current: Route; groups: RailGroup[]; foot: ReactNode }) {
  const here = toHash(toPlace(props.current))
  return (
    <nav className={styles.rail} aria-label="Screens">
      <div className={styles.brand}>
        <img src={iconUrl} alt="" width="22" height="22" />
        <span className={styles.label}>Sluice</span>
      </div>
      <ul>
        {PLACES.map((entry) => (
          <RailLink key={entry.label} entry={entry} here={here} />
        ))}
      </ul>
      {props.groups.map((group) => (
        <div key={group.heading}>
          <h2 className={styles.heading}>{group.heading}</h2>
          {group.about !== undefined && (
            <p className={styles.about} title={group.about}>
              <SafeText text={group.about} max={80} />
            </p>
          )}
          <ol>
            {group.entries.map((entry) => (
              <RailLink key={entry.label} entry={entry} here={here} />
            ))}
          </ol>
        </div>
      ))}
      <div className={styles.foot}>{props.foot}</div>
    </nav>
  )
}

/** Whichever runs are compared and whichever lists are shown, that is one place. */
function toPlace(route: Route): Route {
  if (route.kind === 'compare') return { kind: 'compare', runIds: [] }
  return route.kind === 'lists' ? { kind: 'lists', of: 'index' } : route
}

function RailLink({ entry, here }: { entry: RailEntry; here: string }) {
  const hash = toHash(entry.route)
  const Mark = entry.done ? IconCheck : entry.icon
  const mark = (
    <span className={styles.mark} aria-hidden>
      <Mark size="1rem" />
    </span>
  )
  if (entry.closed !== undefined) {
    return (
      <li>
        <span className={`${styles.entry} ${styles.closed}`} title={entry.closed}>
          {mark}
          <span className={styles.label}>{entry.label}</span>
          <span className="visually-hidden"> (not yet: {entry.closed})</span>
        </span>
      </li>
    )
  }
  return (
    <li>
      <a className={styles.entry} href={hash} aria-current={hash === here ? 'page' : undefined}>
        {mark}
        <span className={styles.label}>{entry.label}</span>
        {entry.done && <span className="visually-hidden"> (done)</span>}
      </a>
    </li>
  )
}

/** What the rail's entries depend on. */
export interface RailStanding {
  hasSource: boolean
  hasPreview: boolean
  isChecked: boolean
  sourceName: string | undefined
  /** The run that is being looked at. */
  runId: string | null
  runName: string | undefined
  /** Whether the run is a load test: what it measured is on one screen. */
  isLoad: boolean
  /** The capacity search that began last; null where there was none. */
  searchId: string | null
  /** Whether its rows trigger rules, which can be evaluated. */
  hasRules: boolean
  route: Route
}

/** The rail's groups: the steps of a new run, then the screens of a run; what cannot be opened yet says why. */
export function toRailGroups(standing: RailStanding): RailGroup[] {
  const { hasSource, hasPreview, isChecked, sourceName, runId, runName, isLoad, searchId, hasRules, route } =
    standing
  const step = route.kind === 'draft' ? route.step : null
  const noRun = 'no run has been chosen'
  const toRun = (kind: RunPlace): Route => (runId === null ? { kind: 'runs' } : { kind, runId })
  const closed = (isOpen: boolean, why: string) => (isOpen ? {} : { closed: why })
  return [
    {
      heading: 'New run',
      ...(hasSource && sourceName !== undefined && { about: sourceName }),
      entries: [
        {
          label: 'Operation',
          icon: IconTargetArrow,
          route: { kind: 'draft', step: 'operation' },
          done: hasSource && step !== 'operation',
        },
        {
          label: 'Source',
          icon: IconTable,
          route: { kind: 'draft', step: 'source' },
          done: hasPreview && step !== 'source',
        },
        {
          label: 'Mapping',
          icon: IconArrowsSplit2,
          route: { kind: 'draft', step: 'mapping' },
          done: isChecked,
          ...closed(hasPreview, 'choose a source first'),
        },
        {
          label: 'Check',
          icon: IconListCheck,
          route: { kind: 'draft', step: 'check' },
          done: isChecked && step === 'review',
          ...closed(isChecked, 'map the columns first'),
        },
        {
          label: 'Review',
          icon: IconSend,
          route: { kind: 'draft', step: 'review' },
          ...closed(isChecked, 'check the rows first'),
        },
      ],
    },
    ...(searchId === null
      ? []
      : [
          {
            heading: 'Capacity',
            entries: [{ label: 'Search', icon: IconGauge, route: { kind: 'capacity' as const, searchId } }],
          },
        ]),
    {
      heading: 'Run',
      ...(runName !== undefined && { about: runName }),
      entries: [
        { label: 'Progress', icon: IconActivity, route: toRun('run'), ...closed(runId !== null, noRun) },
        ...(isLoad
          ? []
          : [
              {
                label: 'Results',
                icon: IconListSearch,
                route: toRun('results'),
                ...closed(runId !== null, noRun),
              },
              {
                label: 'Labelling',
                icon: IconTags,
                route: toRun('labelling'),
                ...closed(runId !== null, noRun),
              },
              {
                label: 'Evaluate',
                icon: IconReportAnalytics,
                route: toRun('evaluate'),
                ...closed(
                  runId !== null && hasRules,
                  runId === null ? noRun : 'only submitted content triggers rules',
                ),
              },
            ]),
        { label: 'Export', icon: IconDownload, route: toRun('export'), ...closed(runId !== null, noRun) },
        {
          label: 'Compare run',
          icon: IconArrowsDiff,
          route: { kind: 'compare', runIds: runId === null ? [] : [runId] },
          ...closed(runId !== null, noRun),
        },
        { label: 'Trend', icon: IconChartLine, route: toRun('trend'), ...closed(runId !== null, noRun) },
      ],
    },
  ]
}
