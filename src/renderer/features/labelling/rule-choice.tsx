import { Stack } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { ActionButton } from '../../ui/controls.tsx'
import { RuleButton } from '../../ui/verdicts/rule-dialog.tsx'
import styles from './labelling.module.css'

/** The rules that a row may be labelled with; the first nine have keys. */
export function RuleChoice(props: {
  rules: readonly string[]
  labels: ReadonlySet<string>
  onToggle: (rule: string) => void
  /** Adds a rule that no row has triggered. */
  onOther: () => void
}) {
  return (
    <section aria-label="Rules that the row should trigger">
      <h2 className={styles.question}>Which rules should it trigger?</h2>
      <Stack component="ul" gap={4} mb="xs">
        {props.rules.map((rule, index) => (
          <li key={rule}>
            <RuleButton
              rule={rule}
              index={index}
              data-label
              aria-pressed={props.labels.has(rule)}
              onClick={() => props.onToggle(rule)}
            />
          </li>
        ))}
      </Stack>
      <ActionButton label="Another rule…" variant="subtle" small icon={IconPlus} onClick={props.onOther} />
    </section>
  )
}
