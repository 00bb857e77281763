import { isAddressMac, toAddressMac } from './address-mac.ts'

/** What a callback is for. */
export interface CallbackTarget {
  /** The run's token, which the child runs of a retry share. */
  runToken: string
  /** The item's number. */
  item: number
}

/** A base URL may have a path that a proxy hands on, so whatever stands before is passed over. */
const CALLBACK_PATH = /\/callback\/([\w-]{1,100})\/([1-9]\d{0,14})\/([\w-]{22})$/

/**
 * Path of an item's callback URL, to be put behind the receiver's base. Always the same for an item of a workspace,
 * and told by nobody who does not know the workspace's secret (32 bytes, hex).
 */
export function toCallbackPath(secret: string, target: CallbackTarget): string {
  const text = toText(target)
  return `/${text}/${toAddressMac(secret, text)}`
}

/** Reads the path of a request, which may carry a query; null where we never gave out such an address. */
export function parseCallbackPath(secret: string, path: string): CallbackTarget | null {
  const [, runToken = '', digits = '', mac = ''] = CALLBACK_PATH.exec(path.split('?', 1)[0] ?? '') ?? []
  const target = { runToken, item: Number(digits) }
  return mac !== '' && isAddressMac(secret, toText(target), mac) ? target : null
}

function toText({ runToken, item }: CallbackTarget): string {
  return `callback/${runToken}/${item}`
}
