import { formatMs } from '../../../shared/messages/figure-text.ts'
import type { ConnectionCheck } from '../../../shared/service/connection-check.ts'
import { Notice } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'

/** The result of a test: first the address, then the key. */
export function CheckNotice(props: {
  check: ConnectionCheck
  /** Label of the sent key; null if it is not stored yet. */
  label: string | null
  hasOtherKeys: boolean
  /** What to do if no key was sent (default: type it or set its variable). */
  unchecked?: string
}) {
  const named = props.label === null ? 'key' : `key ${props.label}`
  const { address, key } = props.check
  if (address.kind === 'unreachable') {
    return (
      <Notice kind="error" title="The service cannot be reached">
        <SafeText text={address.message} max={500} />. Check the address, and the network or proxy in between.
      </Notice>
    )
  }
  const answered = sayAnswered(address.status, address.durationMs)
  if (key.kind === 'unchecked') {
    return (
      <Notice kind="warning" title={`The ${named} could not be tested`}>
        {answered}{' '}
        {props.unchecked ?? 'The key is missing: type it, or set its variable before you start Sluice.'}
      </Notice>
    )
  }
  const code = [key.status, key.errorCode].filter((part) => part !== null).join(' ')
  const said = key.message === null ? code : `${code}: ${key.message}`
  if (key.kind === 'accepted') {
    return (
      <Notice
        kind={address.status === EXPECTED_STATUS ? 'good' : 'warning'}
        title={`The service accepts the ${named}`}
      >
        {answered} No content was sent.
      </Notice>
    )
  }
  return (
    <Notice
      kind={key.kind === 'refused' ? 'error' : 'warning'}
      title={
        key.kind === 'refused'
          ? `The service refuses the ${named}`
          : `The answer does not say whether the ${named} is right`
      }
    >
      {answered} With the key it answered: <SafeText text={said} max={500} />.
      {key.kind === 'refused' &&
        (props.hasOtherKeys ? ' Replace the key, or make another one active.' : ' Replace the key.')}
    </Notice>
  )
}

/** A request about an unknown appeal is answered with 400 (docs/interface.md §4.7). */
const EXPECTED_STATUS = 400

function sayAnswered(status: number, durationMs: number): string {
  const took = formatMs(durationMs)
  if (status === EXPECTED_STATUS) return `The service answered in ${took}.`
  return `Without a key, the address answered ${status} in ${took}; the service would answer ${EXPECTED_STATUS}. Check the base URL.`
}
