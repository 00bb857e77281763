import { type Icon, IconCheck } from '@tabler/icons-react'
import { type Route, toHash } from '../route.ts'
import styles from './shell.module.css'

/** A way to a screen: an entry of the rail, a step of a new run, a tab of a run. */
export interface Place {
  label: string
  icon: Icon
  route: Route
  /** Why it cannot be opened yet; absent where it can. */
  closed?: string
  done?: boolean
  /** What is said of it after its name, for those who do not see its mark. */
  remark?: string
  /** Called when the pointer or the focus comes to it, so that the screen can be made ready. */
  onApproach?: () => void
}

/** A link to a place, or its name and why it is closed. `here` says whether the window shows it, or something in it. */
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
