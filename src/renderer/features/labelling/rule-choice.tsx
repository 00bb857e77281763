import { Button, Stack } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
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
      <Button
        variant="subtle"
        size="compact-sm"
        leftSection={<IconPlus size="1rem" />}
        onClick={props.onOther}
      >
        Another rule…
      </Button>
    </section>
  )
}
