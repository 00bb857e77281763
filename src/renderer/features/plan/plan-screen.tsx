import { IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { PLAN_FORMAT } from '../../../shared/bridge/plans.ts'
import { isEmpty } from '../../../shared/mapping/check-mapping.ts'
import { toWholeMapping } from '../../../shared/mapping/match-columns.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayFix } from '../../../shared/messages/fix-messages.ts'
import type { Fix } from '../../../shared/plan/fixes.ts'
import { getFixedRecord } from '../../../shared/plan/fixes.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { saveExport, suggestFileName } from '../../bridge/save-export.ts'
import { ContentSwitch, isFieldContent, MaskedText, useContentShown } from '../../ui/content/user-content.tsx'
import { ActionButton } from '../../ui/controls.tsx'
import { ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { useFileWriter } from '../../ui/written-file.tsx'
import styles from './plan.module.css'
import {
  describeFieldSource,
  Facts,
  listConnectionFacts,
  listPaceFacts,
  listSourceFacts,
} from './plan-facts.tsx'

/** What a run was started with, as it was recorded: nothing of it can be changed here, all of it can be saved. */
export function PlanScreen({ runId }: { runId: string }) {
  const plan = useQuery(ask.runs.readPlan.queryOptions({ input: { runId } }))
  const columns = useQuery(ask.results.columns.queryOptions({ input: { runId } }))
  const file = useFileWriter()
  const [notes, setNotes] = useState<readonly string[]>([])
  const error = plan.error ?? columns.error
  const save = () =>
    file.write({
      describe: () => 'Plan written',
      write: () =>
        saveExport(suggestFileName(plan.data?.name ?? 'run', PLAN_FORMAT, 'plan'), async (target) => {
          const written = await bridge.plans.save({ runId, ...target })
          setNotes(written.notes)
          return written.saved
        }),
    })
  return (
    <Screen
      title="Plan"
      subtitle="What this run was started with. A saved plan holds no key."
      actions={
        <>
          {(plan.data?.fixes ?? []).length > 0 && <ContentSwitch />}
          <ActionButton
            label="Save as a plan file"
            icon={IconDownload}
            loading={file.isWriting}
            disabled={plan.data === undefined}
            onClick={save}
          />
        </>
      }
    >
      {error !== null && <ErrorNotice error={error} />}
      {file.notice}
      {notes.length > 0 && (
        <Notice kind="warning" title="To know about this plan file">
          {notes.map((note) => (
            <p key={note}>
              <SafeText text={note} max={600} lines />
            </p>
          ))}
        </Notice>
      )}
      {plan.data !== undefined && <PlanParts plan={plan.data} columns={columns.data ?? []} />}
    </Screen>
  )
}

function PlanParts({ plan, columns }: { plan: Plan; columns: readonly string[] }) {
  const { fixes = [] } = plan
  return (
    <div className={`grid items-start gap-4 ${styles.parts}`}>
      <Panel title="Operation and source">
        <Facts facts={listSourceFacts(plan)} />
      </Panel>
      <Panel title="Connection">
        <Facts facts={listConnectionFacts(plan)} />
      </Panel>
      <MappingPanel plan={plan} columns={columns} />
      <Panel title="Pace and retries">
        <Facts facts={listPaceFacts(plan)} />
      </Panel>
      {fixes.length > 0 && <FixesPanel fixes={fixes} />}
    </div>
  )
}

/** What filled each field, columns matched by name among it; not the fields that the plan leaves empty. */
function MappingPanel({ plan, columns }: { plan: Plan; columns: readonly string[] }) {
  const mapped = Object.entries(toWholeMapping(plan, columns)).filter(([, source]) => !isEmpty(source))
  return (
    <Panel title="Mapping" aside={formatCounted(mapped.length, 'field')}>
      <Facts facts={mapped.map(([field, source]) => [field, describeFieldSource(source)])} />
    </Panel>
  )
}

/** Corrections that are listed one by one; a saved plan has all. */
const FIXES_SHOWN = 100

function FixesPanel({ fixes }: { fixes: readonly Fix[] }) {
  const shown = useContentShown()
  return (
    <Panel title="Corrections" aside={formatCounted(fixes.length, 'correction')}>
      <ul className="grid gap-1 m-0 pl-4">
        {fixes.slice(0, FIXES_SHOWN).map((fix) => {
          const { where, what, value } = sayFix(fix)
          return (
            <li key={JSON.stringify(fix)}>
              {getFixedRecord(fix) !== null && `Record ${getFixedRecord(fix)} `}
              <SafeText text={`${where} ${what}`.trim()} max={200} />{' '}
              {value !== null && (
                <MaskedText
                  text={value}
                  revealed={shown || !isFieldContent('field' in fix ? fix.field : undefined, value)}
                  max={80}
                />
              )}
            </li>
          )
        })}
      </ul>
      {fixes.length > FIXES_SHOWN && (
        <p>and {formatCounted(fixes.length - FIXES_SHOWN, 'more correction', 'more corrections')}</p>
      )}
    </Panel>
  )
}
