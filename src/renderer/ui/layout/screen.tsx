import type { ReactNode } from 'react'
import styles from './layout.module.css'

/**
 * The frame of every screen: a title, one sentence, the actions at the right (the primary one last) and the body.
 * `fixed` bodies do not scroll themselves, because a table inside them does.
 */
export function Screen(props: {
  title: string
  subtitle?: ReactNode
  actions?: ReactNode
  fixed?: boolean
  children: ReactNode
}) {
  return (
    <main className={styles.screen} id="screen" tabIndex={-1}>
      <title>{`${props.title} – Sluice`}</title>
      <header className={styles.header}>
        <div className={styles.titles}>
          <h1 className={styles.title}>{props.title}</h1>
          {props.subtitle !== undefined && <p className={styles.subtitle}>{props.subtitle}</p>}
        </div>
        <div className={styles.actions}>{props.actions}</div>
      </header>
      {props.fixed ? (
        <div className={styles.fixed}>{props.children}</div>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <section className={styles.body} tabIndex={0} aria-label={props.title}>
          {props.children}
        </section>
      )}
    </main>
  )
}
