import { type ReactNode, useId } from 'react'
import styles from './layout.module.css'

/**
 * A titled surface; `aside` stands at the right of its title. `flush` drops the padding around a
 * table, `scrolls` lets the keyboard scroll it where nothing in it takes the focus.
 */
export function Panel(props: {
  title: string
  aside?: ReactNode
  flush?: boolean
  scrolls?: boolean
  children: ReactNode
}) {
  const id = useId()
  return (
    <section className={styles.panel} aria-labelledby={id}>
      <div className={styles.panelHead}>
        <h2 className={styles.panelTitle} id={id}>
          {props.title}
        </h2>
        {props.aside !== undefined && <div className={styles.panelAside}>{props.aside}</div>}
      </div>
      {props.scrolls ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <section className={styles.panelFlush} tabIndex={0} aria-label={`${props.title}: table`}>
          {props.children}
        </section>
      ) : (
        <div className={props.flush ? styles.panelFlush : styles.panelBody}>{props.children}</div>
      )}
    </section>
  )
}
