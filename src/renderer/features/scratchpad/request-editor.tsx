import { Group, Input, SegmentedControl, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import type { ScratchDestination } from '../../../shared/bridge/scratchpad.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import {
  hasModes,
  OPERATION_KINDS,
  OPERATIONS,
  type ScratchEndpoint,
} from '../../../shared/operations/operations.ts'
import {
  SCRATCH_PROBLEMS_MAX,
  SCRATCH_TEXT_MAX,
  type ScratchProblem,
} from '../../../shared/service/scratchpad.ts'
import { ask } from '../../bridge/client.ts'
import { maskJson, useContentShown, useOnHideAll } from '../../ui/content/user-content.tsx'
import { ActionButton, CheckField, TextArea, TextField } from '../../ui/controls.tsx'
import { Panel } from '../../ui/layout/screen.tsx'
import { LongText, SafeText, Sentence } from '../../ui/text/safe-text.tsx'
import styles from './scratchpad.module.css'
import {
  changeKind,
  createPostId,
  findPlace,
  formatText,
  setMember,
  toExample,
  useScratchpad,
} from './scratchpad.ts'

const TYPING_MS = 250
const SANDBOX = 'sandbox'
const STORED = 'stored:'

/** The request, its destination, and its problems. */
export function RequestEditor({ connections }: { connections: readonly ConnectionEntry[] }) {
  const { endpoint, text, destination, callbackUrl, set } = useScratchpad()
  const setEndpoint = (next: ScratchEndpoint) => {
    // An unchanged example is replaced by that of the next endpoint.
    const isExample = withoutPostId(text) === withoutPostId(toExample(endpoint))
    set({ endpoint: next, ...(isExample && { text: toExample(next), isOwn: true }) })
  }
  return (
    <Panel title="Request">
      <div className={`flex flex-wrap items-end gap-3 mb-3 ${styles.fields}`}>
        <Select
          label="Operation"
          data={OPERATION_KINDS.map((kind) => ({ value: kind, label: OPERATIONS[kind].words.title }))}
          value={endpoint.kind}
          onChange={(kind) => kind !== null && setEndpoint(changeKind(endpoint, kind))}
        />
        <Select
          label="Destination"
          placeholder="Choose a connection"
          data={[
            { value: SANDBOX, label: 'the sandbox' },
            ...connections.map(({ name, isProduction }) => ({
              value: STORED + name,
              label: isProduction ? `${name} (production)` : name,
            })),
          ]}
          value={toValue(destination)}
          onChange={(value) => value !== null && set({ destination: toDestination(value) })}
        />
        <EndpointFields endpoint={endpoint} onEndpoint={setEndpoint} />
        {hasModes(endpoint) && endpoint.mode === 'async' && destination?.kind === 'stored' && (
          <TextField
            label="Public address for the callback"
            description="Of a proxy or tunnel to this machine; empty if the service runs here"
            placeholder="https://callbacks.example.com"
            value={callbackUrl}
            onValue={(callbackUrl) => set({ callbackUrl })}
          />
        )}
      </div>
      <BodyEditor />
    </Panel>
  )
}

function withoutPostId(text: string): string {
  return text.replace(/"post_id": "scratch-\w+"/, '')
}

function toValue(destination: ScratchDestination | null): string | null {
  if (destination === null) return null
  return destination.kind === 'sandbox' ? SANDBOX : STORED + destination.name
}

function toDestination(value: string): ScratchDestination {
  return value === SANDBOX ? { kind: 'sandbox' } : { kind: 'stored', name: value.slice(STORED.length) }
}

function EndpointFields(props: {
  endpoint: ScratchEndpoint
  onEndpoint: (endpoint: ScratchEndpoint) => void
}) {
  const { endpoint, onEndpoint } = props
  if (!hasModes(endpoint)) return null
  return (
    <>
      <Input.Wrapper size="xs" label="Answer" labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label="Answer"
          data={[
            { value: 'sync', label: 'At once' },
            { value: 'async', label: 'By callback' },
          ]}
          value={endpoint.mode}
          onChange={(mode) => onEndpoint({ ...endpoint, mode })}
        />
      </Input.Wrapper>
      {endpoint.kind === 'task' ? (
        <>
          <Input.Wrapper size="xs" label="Version" labelElement="div">
            <SegmentedControl
              fullWidth
              aria-label="Version"
              data={['v1', 'v2']}
              value={endpoint.api}
              onChange={(api) => onEndpoint({ ...endpoint, api, legacy: false })}
            />
          </Input.Wrapper>
          {endpoint.api === 'v1' && (
            <CheckField
              label="Legacy answer"
              value={endpoint.legacy}
              onValue={(legacy) => onEndpoint({ ...endpoint, legacy })}
            />
          )}
        </>
      ) : (
        <TextField
          label="Custom index id"
          value={endpoint.indexId}
          onValue={(indexId) => onEndpoint({ ...endpoint, indexId })}
        />
      )}
    </>
  )
}

/** That a text has more than {@link SCRATCH_TEXT_MAX} characters. */
export function sayTooLong({ length }: string): string {
  return `Nothing can be sent: the text has ${formatCount(length)} characters, ${formatCount(length - SCRATCH_TEXT_MAX)} more than the Scratchpad takes.`
}

/** The JSON of the request, with the problems found by the checks of rows below it. */
function BodyEditor() {
  const { endpoint, text, isOwn, isRevealed, set } = useScratchpad()
  const isShown = useContentShown() || isOwn || isRevealed
  useOnHideAll(() => set({ isRevealed: false }))
  const area = useRef<HTMLTextAreaElement>(null)
  const [checked] = useDebouncedValue(text, TYPING_MS)
  const check = useQuery({
    ...ask.scratchpad.check.queryOptions({
      input: checked.length > SCRATCH_TEXT_MAX ? skipToken : { endpoint, text: checked },
    }),
    placeholderData: keepPreviousData,
  })
  const isTooLong = text.length > SCRATCH_TEXT_MAX
  const problems = (!isTooLong && check.data) || []
  const { endpoint: address, namedBy } = OPERATIONS[endpoint.kind]
  const isGet = address.method === 'GET'
  const lead = (problem: ScratchProblem) => {
    const { start, end } = findPlace(text, problem)
    area.current?.focus()
    area.current?.setSelectionRange(start, end)
  }
  if (!isShown) {
    return (
      <>
        <p className={`quiet ${styles.note}`}>
          This is the request of a row. Its content is hidden, but sent in full.
        </p>
        <LongText text={maskJson(text)} label="Body of the row" />
        <ActionButton label="Show and edit" size="xs" mt="sm" onClick={() => set({ isRevealed: true })} />
      </>
    )
  }
  return (
    <>
      <TextArea
        ref={area}
        label={isGet ? 'Fields' : 'JSON body'}
        description={
          isGet
            ? `Goes out as a GET without a body: ${namedBy[0]} becomes part of the address.`
            : 'Sent as it stands'
        }
        classNames={{ input: styles.text ?? '' }}
        rows={14}
        spellCheck={false}
        value={text}
        onValue={(text) => set({ text })}
      />
      <Group gap="xs" mt="xs">
        <ActionButton label="Format" small onClick={() => set({ text: formatText(text) })} />
        {endpoint.kind === 'task' && (
          <ActionButton
            label="New post_id"
            small
            onClick={() => set({ text: setMember(text, 'post_id', createPostId()) })}
          />
        )}
        <ActionButton label="Example" small onClick={() => set({ text: toExample(endpoint), isOwn: true })} />
      </Group>
      <section aria-label="Check of the request" aria-live="polite">
        {isTooLong && <p className={styles.note}>{sayTooLong(text)}</p>}
        {check.data !== undefined && !isTooLong && problems.length === 0 && (
          <p className={`quiet ${styles.note}`}>No problems found.</p>
        )}
        {problems.length > 0 && (
          <>
            <p className={`quiet ${styles.note}`}>
              {problems.length === SCRATCH_PROBLEMS_MAX && 'The first '}
              {formatCounted(problems.length, 'problem')}. You can still send it, as long as it is JSON.
            </p>
            <ul className={`stack gap-1 m-0 p-0 ${styles.problems}`}>
              {problems.map((problem) => (
                <li
                  key={`${problem.code} ${problem.path.join('.')} ${problem.found}`}
                  data-severity={problem.severity}
                >
                  <button type="button" className="link" onClick={() => lead(problem)}>
                    line {findPlace(text, problem).line}
                  </button>{' '}
                  <strong>
                    <SafeText text={problem.path.length === 0 ? 'the request' : problem.path.join('.')} />
                  </strong>{' '}
                  <Sentence text={sayExpected(problem, 'window')} />
                  {problem.found !== undefined && (
                    <>
                      , found <SafeText text={problem.found} max={80} />
                    </>
                  )}
                </li>
              ))}
            </ul>
          </>
        )}
      </section>
    </>
  )
}
