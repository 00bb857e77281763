import { Group } from '@mantine/core'
import {
  IconChartHistogram,
  IconChecklist,
  IconFlask,
  IconSend,
  IconTableImport,
  type TablerIcon,
} from '@tabler/icons-react'
import { SOURCE_NAMES_TEXT } from '../../../shared/plan/source-formats.ts'
import { ActionButton, PrimaryButton } from '../../ui/controls.tsx'
import styles from './runs.module.css'

const STEPS: { icon: TablerIcon; title: string; text: string }[] = [
  {
    icon: IconTableImport,
    title: 'Look',
    text: 'See how the file is read, and correct encoding, delimiter and header until it is right.',
  },
  {
    icon: IconChecklist,
    title: 'Check',
    text: 'Columns become fields. Every row is checked, and what is wrong is listed by cause.',
  },
  {
    icon: IconSend,
    title: 'Send',
    text: 'Ten rows to try, then all of them. Pause and resume; nothing is sent twice unless you say so.',
  },
  {
    icon: IconChartHistogram,
    title: 'Measure',
    text: 'Which rules trigger, what fails and why, and how fast the service answers.',
  },
]

/** What the home screen shows before there is a run: two ways to begin, and what will happen then. */
export function Welcome(props: {
  busy: boolean
  onNew: () => void
  onChoose: () => void
  onChooseFolder: () => void
  onSandbox: () => void
}) {
  return (
    <>
      <div className="grid two-columns gap-4">
        <section
          className={`stack items-center gap-2 rounded-large bg-surface ${styles.start} ${styles.drop}`}
          aria-labelledby="start-file"
        >
          <IconTableImport size="2rem" stroke={1.25} className="quiet" aria-hidden />
          <h2 id="start-file" className="text-lg bold">
            Drop a spreadsheet or a folder
          </h2>
          <p>
            Anywhere in this window. {SOURCE_NAMES_TEXT}, any size, any encoding. Nothing is sent before you
            say so.
          </p>
          <Group gap="xs" align="stretch" wrap="nowrap">
            <PrimaryButton onPress={props.onChoose}>Choose a spreadsheet</PrimaryButton>
            <ActionButton label="Choose a folder" onClick={props.onChooseFolder} />
          </Group>
        </section>
        <section
          className={`stack items-center gap-2 rounded-large bg-surface ${styles.start}`}
          aria-labelledby="start-sandbox"
        >
          <IconFlask size="2rem" stroke={1.25} className="quiet" aria-hidden />
          <h2 id="start-sandbox" className="text-lg bold">
            No account yet?
          </h2>
          <p>
            The sandbox is a small moderation service inside this app, with a sample to send. Nothing leaves
            this machine.
          </p>
          <ActionButton label="Try it with the sandbox" loading={props.busy} onClick={props.onSandbox} />
        </section>
      </div>
      <p className={styles.more}>
        Index items, watchlist terms, appeals, or answers by callback?{' '}
        <button type="button" className="link" onClick={props.onNew}>
          Choose what to do first
        </button>
      </p>
      <ol className={styles.steps} aria-label="How it goes">
        {STEPS.map(({ icon: Icon, title, text }, index) => (
          <li key={title}>
            <h3 className="row gap-2 text-sm bold">
              <Icon size="1.1rem" stroke={1.5} aria-hidden />
              {index + 1}. {title}
            </h3>
            <p className="mt-1 quiet">{text}</p>
          </li>
        ))}
      </ol>
    </>
  )
}
