import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { Rule, RuleCondition } from '../../../shared/sandbox/content.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { ActionButton, RowButton, SwitchField } from '../../ui/controls.tsx'
import { ErrorNotice, Notice, Panel } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { RuleEditor } from './rule-editor.tsx'
import styles from './sandbox.module.css'

/** The rules by which the sandbox judges content. */
export function RulesPanel() {
  const rules = useQuery(ask.sandbox.rules.queryOptions())
  const [opened, setOpened] = useState<{ rule: Rule | null } | null>(null)
  const [removed, setRemoved] = useState<Rule | null>(null)
  const change = useMutation({
    mutationFn: (make: () => Promise<Rule[]>) => make(),
    onSuccess: (now) => queryClient.setQueryData(ask.sandbox.rules.queryKey(), now),
  })
  const put = (rule: Rule) => change.mutate(() => bridge.sandbox.putRule(rule))
  const list = rules.data ?? []
  return (
    <>
      {rules.error !== null && <ErrorNotice error={rules.error} onRetry={rules.refetch} />}
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
      {removed !== null && (
        <Notice
          kind="info"
          title={
            <>
              Rule <SafeText text={removed.rule_name} max={80} /> removed
            </>
          }
          actions={
            <ActionButton
              label="Undo"
              small
              onClick={() => {
                put(removed)
                setRemoved(null)
              }}
            />
          }
        />
      )}
      <Panel
        title={formatCounted(list.length, 'rule')}
        aside={
          <ActionButton label="Add a rule" small icon={IconPlus} onClick={() => setOpened({ rule: null })} />
        }
        flush
      >
        <Table
          className={styles.table}
          caption="Rules of the sandbox"
          rows={list}
          toKey={(rule) => rule.rule_id}
          columns={[
            {
              title: 'Active',
              cell: (rule) => (
                <SwitchField
                  aria-label={`${rule.rule_name} is active`}
                  checked={rule.active}
                  onValue={(active) => put({ ...rule, active })}
                />
              ),
            },
            {
              title: 'Rule',
              isRowHead: true,
              cell: (rule) => (
                <>
                  <SafeText text={rule.rule_name} max={120} />
                  <div className="small normal">
                    <SafeText text={rule.rule_id} max={120} />
                  </div>
                </>
              ),
            },
            {
              title: 'Triggers when all of these hold',
              cell: (rule) => (
                <SafeText text={rule.conditions.map(sayCondition).join('; ')} max={400} lines />
              ),
            },
            {
              title: 'Actions',
              isActions: true,
              cell: (rule) => (
                <>
                  <RowButton
                    label="Edit"
                    name={`Edit rule ${rule.rule_name}`}
                    onPress={() => setOpened({ rule })}
                  />
                  <RowButton
                    label="Remove"
                    name={`Remove rule ${rule.rule_name}`}
                    onPress={() =>
                      change.mutate(() => bridge.sandbox.removeRule({ ruleId: rule.rule_id }), {
                        onSuccess: () => setRemoved(rule),
                      })
                    }
                  />
                </>
              ),
            },
          ]}
        />
      </Panel>
      {opened !== null && (
        <RuleEditor
          rule={opened.rule}
          takenIds={list.map(({ rule_id: id }) => id)}
          onSave={async (rule) => {
            const now = await bridge.sandbox.putRule(rule)
            queryClient.setQueryData(ask.sandbox.rules.queryKey(), now)
            setOpened(null)
          }}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  )
}

function sayCondition(condition: RuleCondition): string {
  switch (condition.subject) {
    case 'class_score':
      return `${condition.class} scores at least ${condition.min_score}`
    case 'watchlist':
      return `a term of the watchlist ${condition.watchlist}`
    case 'custom_index':
      return `an item of the index ${condition.custom_index_id}`
    case 'content_variant':
      return `content variant ${condition.content_variant}`
    case 'url':
      return 'a web address'
    case 'language':
      return `language ${condition.any_of.join(' or ')}`
  }
}
