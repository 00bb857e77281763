import {
  IconActivity,
  IconArrowsSplit2,
  IconDownload,
  IconListCheck,
  IconListSearch,
  IconSend,
  IconTable,
  IconTargetArrow,
} from '@tabler/icons-react'
import type { Route } from '../route.ts'
import type { RailGroup } from './rail.tsx'

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
  route: Route
}

/** The rail's groups: the steps of a new run, then the screens of a run; what cannot be opened yet says why. */
export function toRailGroups(standing: RailStanding): RailGroup[] {
  const { hasSource, hasPreview, isChecked, sourceName, runId, runName, isLoad, route } = standing
  const step = route.kind === 'draft' ? route.step : null
  const noRun = 'no run has been chosen'
  const toRun = (kind: 'run' | 'results' | 'export'): Route =>
    runId === null ? { kind: 'runs' } : { kind, runId }
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
            ]),
        { label: 'Export', icon: IconDownload, route: toRun('export'), ...closed(runId !== null, noRun) },
      ],
    },
  ]
}
