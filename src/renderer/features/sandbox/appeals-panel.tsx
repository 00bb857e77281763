import { Group, Select } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { NewAppeal, SandboxLists, ShownAppeal } from '../../../shared/bridge/sandbox.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { ActionButton, NumberField, RowButton, TextField } from '../../ui/controls.tsx'
import { Panel } from '../../ui/layout/screen.tsx'
import { Pager } from '../../ui/pager.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './sandbox.module.css'

const PAGE_APPEALS = 25

/** The appeals of the sandbox: what each answers, and how often it was read. */
export function AppealsPanel(props: {
  count: number
  onChange: (make: () => Promise<SandboxLists>) => void
}) {
  const { count, onChange } = props
  const [offset, setOffset] = useState(0)
  const [samples, setSamples] = useState(10)
  const page = useQuery({
    ...ask.sandbox.appeals.queryOptions({ input: { offset, limit: PAGE_APPEALS } }),
    placeholderData: keepPreviousData,
  })
  return (
    <Panel
      title={formatCounted(count, 'appeal')}
      aside={
        count > 0 && (
          <ActionButton
            label="Remove all appeals"
            variant="subtle"
            small
            onClick={() => onChange(() => bridge.sandbox.removeAppeals({ appealId: null }))}
          />
        )
      }
      flush
    >
      {count > 0 && (
        <Table
          className={styles.table}
          caption="Appeals of the sandbox"
          rows={page.data?.appeals ?? []}
          toKey={(appeal) => appeal.appeal_id}
          columns={[
            { title: 'Appeal', cell: (appeal) => <SafeText text={appeal.appeal_id} max={120} /> },
            { title: 'Status', cell: sayStatus },
            { title: 'Review', cell: sayReview },
            { title: 'Read', cell: (appeal) => formatCounted(appeal.reads, 'time') },
            {
              title: 'Actions',
              isActions: true,
              cell: (appeal) => (
                <RowButton
                  label="Remove"
                  name={`Remove appeal ${appeal.appeal_id}`}
                  onPress={() => onChange(() => bridge.sandbox.removeAppeals({ appealId: appeal.appeal_id }))}
                />
              ),
            },
          ]}
        />
      )}
      <Pager offset={offset} limit={PAGE_APPEALS} total={count} noun="appeal" onOffset={setOffset} />
      <div className="p-3-4">
        <AppealForm onAdd={(appeal) => onChange(() => bridge.sandbox.putAppeal(appeal))} />
        <Group gap="xs" align="flex-end">
          <NumberField
            label="Sample appeals"
            min={1}
            max={1_000_000}
            allowDecimal={false}
            clampBehavior="strict"
            value={samples}
            onValue={(value) => value !== null && setSamples(value)}
          />
          <ActionButton
            label={`Create appeal-1 to appeal-${samples}`}
            onClick={() => onChange(() => bridge.sandbox.addSampleAppeals({ samples }))}
          />
        </Group>
      </div>
    </Panel>
  )
}

function sayStatus({ status, reviewed_after_reads: reads, reviewed_after_ms: ms }: ShownAppeal): string {
  if (reads !== null) return `${status}, Reviewed after ${formatCounted(reads, 'read')}`
  return ms === null ? status : `${status}, Reviewed after ${ms / 1000} s`
}

function sayReview({ judgment }: ShownAppeal): string {
  if (judgment.overturned === undefined) return 'does not say'
  return judgment.overturned ? 'overturns the decision' : 'upholds the decision'
}

const REVIEWS = [
  { value: 'upheld', label: 'upholds the decision' },
  { value: 'overturned', label: 'overturns the decision' },
  { value: 'silent', label: 'does not say' },
]

function AppealForm({ onAdd }: { onAdd: (appeal: NewAppeal) => void }) {
  const [appealId, setAppealId] = useState('')
  const [status, setStatus] = useState<NewAppeal['status']>('In Review')
  const [reads, setReads] = useState<number | null>(null)
  const [review, setReview] = useState('upheld')
  return (
    <form
      className={`flex flex-wrap items-end gap-3 p-0 border-0 ${styles.fields}`}
      onSubmit={(event) => {
        event.preventDefault()
        onAdd({
          ...{ appealId: appealId.trim(), status },
          reviewedAfterReads: status === 'Reviewed' ? null : reads,
          isOverturned: review === 'silent' ? null : review === 'overturned',
        })
        setAppealId('')
      }}
    >
      <TextField label="Id of the new appeal" value={appealId} onValue={setAppealId} />
      <Select
        label="Status"
        data={['In Review', 'Reviewed']}
        value={status}
        onChange={(value) => setStatus(value === 'Reviewed' ? value : 'In Review')}
      />
      {status === 'In Review' && (
        <NumberField
          label="Reviewed after reads"
          placeholder="never"
          min={1}
          allowDecimal={false}
          value={reads}
          onValue={(value) => setReads(value)}
        />
      )}
      <Select
        label="The review"
        data={REVIEWS}
        value={review}
        onChange={(value) => setReview(value ?? 'upheld')}
      />
      <ActionButton label="Add the appeal" type="submit" disabled={appealId.trim() === ''} />
    </form>
  )
}
