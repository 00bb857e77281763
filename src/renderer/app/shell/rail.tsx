import {
  type Icon,
  IconArrowsDiff,
  IconCheck,
  IconFlask,
  IconList,
  IconListDetails,
  IconPencil,
  IconPlugConnected,
  IconPlus,
  IconSettings,
  IconWebhook,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import iconUrl from '../../icon.svg'
import { toFurthestStep, useDraft } from '../draft.ts'
import { type Route, toHash } from '../route.ts'
import styles from './shell.module.css'

/** Every place of the window; runs, load tests and capacity searches are in *Runs*. */
export const PLACES: readonly Place[] = [
  { label: 'Runs', icon: IconList, route: { kind: 'runs' } },
  { label: 'Compare', icon: IconArrowsDiff, route: { kind: 'compare', runIds: [] } },
  { label: 'Lists', icon: IconListDetails, route: { kind: 'lists', of: 'index' } },
  { label: 'Connections', icon: IconPlugConnected, route: { kind: 'connections' } },
  { label: 'Callbacks', icon: IconWebhook, route: { kind: 'callbacks' } },
  { label: 'Sandbox', icon: IconFlask, route: { kind: 'sandbox' } },
  { label: 'Scratchpad', icon: IconPencil, route: { kind: 'scratchpad' } },
  { label: 'Settings', icon: IconSettings, route: { kind: 'settings' } },
]

/** The list of places, with the run being prepared above it. In a narrow window, names stand below icons. */
export function Rail(props: { current: Route; foot: ReactNode }) {
  const { current } = props
  const furthest = useDraft(toFurthestStep)
  const sourceName = useDraft((draft) => draft.source?.name)
  const home = toHash(findPlace(current))
  return (
    <nav className={`stack min-h-0 ${styles.rail}`} aria-label="Places">
      <div className={`row flex-none gap-2 text-lg bold ${styles.brand}`}>
        <img src={iconUrl} alt="" width="22" height="22" />
        <span className={`nowrap ${styles.label}`}>Sluice</span>
      </div>
      <div className={`mb-3 ${styles.newRun}`}>
        <PlaceLink
          place={{
            label: 'New run',
            icon: IconPlus,
            route: { kind: 'draft', step: furthest },
            ...(sourceName !== undefined && { remark: `begun with ${sourceName}` }),
          }}
          here={current.kind === 'draft' ? 'true' : undefined}
        />
      </div>
      <ul>
        {PLACES.map((place) => (
          <li key={place.label}>
            <PlaceLink
              place={place}
              here={toHash(place.route) !== home ? undefined : toHash(current) === home ? 'page' : 'true'}
            />
          </li>
        ))}
      </ul>
      <div className={styles.foot}>{props.foot}</div>
    </nav>
  )
}

function findPlace(route: Route): Route {
  if (route.kind === 'compare') return { kind: 'compare', runIds: [] }
  if (route.kind === 'lists') return { kind: 'lists', of: 'index' }
  return 'runId' in route || route.kind === 'capacity' ? { kind: 'runs' } : route
}

/** A link to a screen: an entry of the rail, a step of a new run, or a tab of a run. */
export interface Place {
  label: string
  icon: Icon
  route: Route
  /** Why it cannot be opened yet; absent if it can. */
  closed?: string
  done?: boolean
  /** Read after its name to people who do not see its mark. */
  remark?: string
  /** Called when the pointer or the focus reaches it, to prepare the screen. */
  onApproach?: () => void
}

/** A link to a place, or its name and why it is closed. `here` says whether the window shows (part of) it. */
export function PlaceLink({ place, here }: { place: Place; here?: 'page' | 'true' | undefined }) {
  const Mark = place.done ? IconCheck : place.icon
  const inner = (
    <>
      <span className={styles.mark} data-done={place.done || undefined} aria-hidden>
        <Mark size="1rem" />
      </span>
      <span className={`nowrap ${styles.label}`} data-name>
        {place.label}
      </span>
    </>
  )
  if (place.closed !== undefined) {
    return (
      <span className={`row gap-2 rounded ${styles.entry} ${styles.closed}`} title={place.closed}>
        {inner}
        <span className="visually-hidden"> (not yet: {place.closed})</span>
      </span>
    )
  }
  return (
    <a
      className={`row gap-2 rounded ${styles.entry}`}
      href={toHash(place.route)}
      aria-current={here}
      onPointerEnter={place.onApproach}
      onFocus={place.onApproach}
    >
      {inner}
      {place.done && <span className="visually-hidden"> (done)</span>}
      {place.remark !== undefined && (
        <>
          <span className={styles.dot} title={place.remark} aria-hidden />
          <span className="visually-hidden"> ({place.remark})</span>
        </>
      )}
    </a>
  )
}
