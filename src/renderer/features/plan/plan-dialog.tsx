import { Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import type { OpenedPlan } from '../../../shared/bridge/plans.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { useWaitingRun } from '../../bridge/waiting-run.ts'
import { isProductionAddress } from '../../ui/connection/destination.ts'
import { ProductionNotice } from '../../ui/connection/destination-panel.tsx'
import { KeyInput } from '../../ui/connection/key-input.tsx'
import { Form, FormActions } from '../../ui/form.tsx'
import { ErrorNotice, Notice } from '../../ui/layout/screen.tsx'
import { describeLoadTest, describeOptions, toLook } from '../../ui/operations/operation-looks.tsx'
import { WaitingRun } from '../../ui/runs/waiting-run.tsx'
import { Facts } from './plan-screen.tsx'

/**
 * Shows what an opened plan file would do, reads and checks its source on request, and sends it once the
 * person has seen the result. A run that is not sent is deleted.
 */
export function PlanDialog(props: {
  planId: string
  connections: readonly ConnectionEntry[]
  onOpen: (runId: string) => void
  onClose: () => void
}) {
  const { planId } = props
  const [apiKey, setApiKey] = useState('')
  const { data: plan, error } = useQuery(ask.plans.describe.queryOptions({ input: { planId } }))
  const typed = apiKey.trim()
  const { waiting, read, send, isUnclear, open } = useWaitingRun({
    start: () => bridge.plans.start({ planId, ...(typed !== '' && { apiKey: typed }) }),
    onOpen: props.onOpen,
  })
  return (
    <Modal
      // Not before its form exists, which then gets the focus.
      opened={plan !== undefined || error !== null}
      size="lg"
      onClose={props.onClose}
      title="Open a plan"
    >
      {error !== null && <ErrorNotice error={error} />}
      {plan !== undefined && <OpenedFacts plan={plan} />}
      {plan !== undefined && waiting === null && (
        <Form onSubmit={() => read.mutate()}>
          <PlaceNotice plan={plan} connections={props.connections} />
          {plan.leftOut.length > 0 && (
            <Notice kind="warning" title={`Not used from the plan: ${plan.leftOut.join(', ')}`}>
              Set them for a connection under Connections, then name that connection in the plan.
            </Notice>
          )}
          {plan.needsKey && <KeyInput hasFocus value={apiKey} onValue={setApiKey} />}
          <FormActions
            submit="Read and check the source"
            onCancel={props.onClose}
            sent={read}
            isBlocked={plan.needsKey && typed === ''}
            hasFocus={!plan.needsKey}
          />
        </Form>
      )}
      {plan !== undefined && waiting !== null && (
        <WaitingRun
          waiting={waiting}
          isProduction={isProduction(plan, props.connections)}
          before={null}
          isLoadTest={plan.load !== null}
          busy={send.isPending}
          error={send.error}
          isUnclear={isUnclear}
          onGiveUp={props.onClose}
          onOpen={open}
          onSend={send.mutate}
        />
      )}
    </Modal>
  )
}

/** The plan's settings, in the order of a new run. */
function OpenedFacts({ plan }: { plan: OpenedPlan }) {
  const { operation, load } = plan
  const { title } = toLook(load === null ? operation.kind : 'load')
  const options = load === null ? describeOptions(operation) : describeLoadTest(operation, load)
  const place = plan.isSandbox
    ? 'the sandbox'
    : [plan.connectionName, plan.baseUrl, plan.taskBaseUrl].filter((part) => part !== null).join(', ')
  const facts = [
    ['Plan', plan.file],
    ['Run', plan.name],
    ['Operation', `${title}: ${options}`],
    ['Source', plan.source],
    ['Sends to', place],
  ] as const
  return <Facts facts={facts} />
}

function isProduction(
  { connectionName: name, baseUrl, taskBaseUrl }: OpenedPlan,
  connections: readonly ConnectionEntry[],
): boolean {
  const addresses = [baseUrl, taskBaseUrl].filter((address) => address !== null)
  const isMarked = connections.some((entry) => entry.isProduction && entry.name === name)
  return isMarked || isProductionAddress(addresses, connections)
}

function PlaceNotice(props: { plan: OpenedPlan; connections: readonly ConnectionEntry[] }) {
  const { connectionName: name, isSandbox, baseUrl } = props.plan
  if (isProduction(props.plan, props.connections)) {
    return <ProductionNotice place={{ name: name ?? baseUrl, kind: 'production' }} />
  }
  if (name !== null || isSandbox) {
    return <Notice kind="info" title="Nothing has been read or sent yet" />
  }
  return (
    <Notice kind="warning" title="This address is not one of your connections">
      Check it before you go on. Stored keys are not sent there. Nothing has been read or sent yet.
    </Notice>
  )
}
