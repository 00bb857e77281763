import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { TriggeredRule } from '../../../shared/run/run.ts'
import { BarTable } from '../../ui/charts/bar-table.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './run.module.css'

/** The rules that rows triggered, most rows first; a rule's name opens its rows. */
export function RulesPanel(props: { rules: readonly TriggeredRule[]; onPick?: (ruleId: string) => void }) {
  const { rules, onPick } = props
  return (
    <Panel
      title="Triggered rules"
      aside={rules.length === 0 ? 'none yet' : formatCounted(rules.length, 'rule')}
    >
      {rules.length === 0 ? (
        <p className={styles.quietInside}>Rules appear here with the first answer that triggers one.</p>
      ) : (
        <BarTable
          caption="Triggered rules by rows"
          bars={rules.map((rule) => ({
            id: rule.rule_id,
            name: <SafeText text={rule.rule_name} max={60} />,
            rows: rule.rows,
          }))}
          {...(onPick && { onPick })}
        />
      )}
    </Panel>
  )
}
