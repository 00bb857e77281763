import { useCallback, useState } from 'react'
import type { RunAccess } from '../../shared/bridge/runs.ts'
import { countDoubleAdds } from '../../shared/run/resend-consent.ts'
import { bridge } from '../bridge/client.ts'
import { followAgain, useLiveRuns } from '../bridge/live-runs.ts'
import { useAction } from '../bridge/use-action.ts'
import { useQuery } from '../bridge/use-query.ts'
import type { NamedPlace } from '../ui/connection/destination.ts'
import { recallTypedKey, rememberTypedKey, toAddresses } from '../ui/connection/typed-keys.ts'
import { type ContinueChoice, ContinueDialog } from '../ui/dialogs/continue-dialog.tsx'
import { countRetryable } from '../ui/states/row-counts.ts'
import { goTo } from './use-route.ts'

/** A run that is to be taken up again, and how: where it stopped, or what did not succeed as a child run. */
export interface ContinueRequest {
  kind: 'resume' | 'retry'
  runId: string
}

/** Asks what must be known before a run is taken up again, takes it up, and shows it. */
export function ContinueRun(props: {
  request: ContinueRequest
  namePlace: (baseUrl: string) => NamedPlace
  onClose: () => void
}) {
  const { request, onClose } = props
  const { kind, runId } = request
  const summary = useLiveRuns((live) => live.summaries[runId])
  const taking = useAction(
    useCallback(
      async (choice: ContinueChoice) => {
        const options = { runId, ...choice }
        if (summary !== undefined && choice.apiKey !== undefined)
          rememberTypedKey(toAddresses(summary), choice.apiKey)
        const taken =
          kind === 'retry' ? await bridge.runs.retryRun(options) : await bridge.runs.resumeRun(options)
        onClose()
        followAgain(taken.runId)
        goTo({ kind: 'run', runId: taken.runId })
      },
      [kind, runId, summary, onClose],
    ),
  )
  const access = useQuery(`${runId} access`, (signal) => bridge.runs.readAccess({ runId }, { signal }))
  if (summary === undefined || access.busy) return null
  // A retry sends what is left of the whole run, whichever part of it is shown.
  const rows = kind === 'retry' ? (summary.whole_run?.rows ?? summary.rows) : summary.rows
  const mayAddTwice = summary.operation === 'index-add'
  const unknown = mayAddTwice ? countDoubleAdds(rows, kind) : rows.unknown
  return (
    <ContinueDialog
      kind={kind}
      rows={kind === 'resume' ? rows.not_sent : countRetryable(rows) - unknown}
      unknown={unknown}
      mayAddTwice={mayAddTwice}
      awaiting={rows.awaiting}
      needsKey={access.data?.needsKey ?? true}
      typedKey={recallTypedKey(toAddresses(summary))}
      place={toPlace(props.namePlace(summary.base_url), access.data)}
      busy={taking.busy}
      error={taking.error}
      onConfirm={(choice) => void taking.run(choice)}
      onClose={onClose}
    />
  )
}

/** The current request, if any, with functions to set and drop it. */
export function useContinueRequest() {
  const [request, setRequest] = useState<ContinueRequest | null>(null)
  const drop = useCallback(() => setRequest(null), [])
  return { request, make: setRequest, drop }
}

/** A run's own connection says more than its address. */
function toPlace(place: NamedPlace, access: RunAccess | null): NamedPlace {
  const name = access?.connectionName ?? null
  if (access === null || name === null) return place
  return { name, kind: access.isProduction ? 'production' : 'other' }
}
