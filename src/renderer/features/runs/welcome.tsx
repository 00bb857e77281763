import {
  IconChartHistogram,
  IconChecklist,
  IconSend,
  IconTableImport,
  type TablerIcon,
} from '@tabler/icons-react'
import styles from './runs.module.css'

const STEPS: { icon: TablerIcon; title: string; text: string }[] = [
  {
    icon: IconTableImport,
    title: 'A spreadsheet',
    text: 'CSV or TSV, any size, any encoding. See how it is read before anything happens.',
  },
  {
    icon: IconChecklist,
    title: 'Checked first',
    text: 'Columns become fields; every row is checked, and what is wrong is listed by cause.',
  },
  {
    icon: IconSend,
    title: 'Sent with care',
    text: 'Ten rows to try, then all of them. Pause, resume and stop; nothing is sent twice without a word.',
  },
  {
    icon: IconChartHistogram,
    title: 'Measured',
    text: 'Which rules trigger, what fails and why, and how fast the service answers.',
  },
]

/** What the home screen says before there is a run: what will happen, in four steps. */
export function Welcome() {
  return (
    <section className={styles.welcome} aria-label="How it goes">
      <ol className={styles.steps}>
        {STEPS.map(({ icon: Icon, title, text }) => (
          <li key={title}>
            <Icon size="1.75rem" stroke={1.25} aria-hidden />
            <h2>{title}</h2>
            <p>{text}</p>
          </li>
        ))}
      </ol>
      <p className={styles.hint}>
        No account at hand? <strong>Try it with the sandbox</strong>: a small moderation service inside this
        app, with a sample to send. Nothing leaves this machine.
      </p>
    </section>
  )
}
