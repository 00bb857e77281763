import { readFileSync } from 'node:fs'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrown } from '../../../shared/messages/thrown.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import {
  fillVariables,
  identifiesTenant,
  isHeaderValue,
  listHeaderReferences,
  type PlanHeaders,
  parseHeaderValue,
} from '../../../shared/plan/request-headers.ts'
import {
  ApiKey,
  BoundSecret,
  handled,
  ProxyCredentials,
  type SealedSecret,
  toOrigins,
} from './bound-secret.ts'
import type { Redactor } from './redactor.ts'

/** A header as sent, and the secrets in its value. */
type ReadHeader = [name: string, value: string, secrets: readonly string[]]

/** The header values that a plan takes from variables and files, bound to their addresses. */
export class HeaderValues extends BoundSecret {
  readonly kind = 'headers'
  readonly #headers: readonly ReadHeader[]

  private constructor(sealed: Omit<SealedSecret, 'kind'>) {
    super(sealed)
    this.#headers = JSON.parse(this.value) as ReadHeader[]
    this.redactBy(handled)
  }

  /** Binds headers to the addresses of a connection. */
  static create(headers: readonly ReadHeader[], connection: PlanAddresses): HeaderValues {
    const value = JSON.stringify(headers)
    return new HeaderValues({ value, origins: toOrigins(connection), source: 'in headers' })
  }

  static unseal(sealed: SealedSecret): HeaderValues {
    return new HeaderValues(sealed)
  }

  /** Values by header name. Throws `BAD_PLAN` for any other origin than their own. */
  toHeaders(url: URL): ReadonlyMap<string, string> {
    this.reveal(url, (found) => new SluiceError({ id: 'headers_of_other', origins: this.origins, found }))
    return new Map(this.#headers.map(([name, value]) => [name, value]))
  }

  /** Only the headers that identify the tenant in this way; null if there are none. */
  only(says: ReturnType<typeof identifiesTenant>): HeaderValues | null {
    const headers = this.#headers.filter(([name, value]) => identifiesTenant(name, value) === says)
    if (headers.length === 0) return null
    return new HeaderValues({ value: JSON.stringify(headers), origins: this.origins, source: this.source })
  }

  /** Makes `redactor` remove every secret. */
  redactBy(redactor: Redactor): void {
    for (const [, , secrets] of this.#headers) for (const secret of secrets) redactor.add(secret)
  }
}

type PlanAddresses = Pick<PlanConnection, 'baseUrl' | 'taskBaseUrl'>

/**
 * Reads the values that a connection's headers take from variables and files; null if they take none. Throws
 * `BAD_PLAN` if one is missing or has characters that no header can carry; no message shows any of it.
 */
export function readHeaderValues(
  env: NodeJS.ProcessEnv,
  connection: PlanAddresses & Pick<PlanConnection, 'headers'>,
): HeaderValues | null {
  const references = listHeaderReferences(connection.headers)
  if (references.length === 0) return null
  return HeaderValues.create(
    references.map(([name, written]) => readHeader(env, name, written)),
    connection,
  )
}

function readHeader(env: NodeJS.ProcessEnv, name: string, written: string): ReadHeader {
  const from = parseHeaderValue(written)
  const secrets: string[] = []
  const value =
    from.kind === 'file'
      ? readValueFile(name, from.path)
      : fillVariables(written, (variable) => {
          const found = env[variable] ?? ''
          if (found === '') throw new SluiceError({ id: 'header_variable_not_set', name, variable })
          secrets.push(...listSecrets(found))
          return found
        })
  if (from.kind === 'file') secrets.push(...listSecrets(value))
  if (value !== '' && isHeaderValue(value)) return [name, value, secrets]
  throw new SluiceError({
    id: 'header_value_unusable',
    name,
    from: from.kind === 'file' ? from.path : written,
  })
}

/** A value, and parts of it that a service may repeat alone: the token after `Bearer`, a cookie's session. */
function listSecrets(value: string): string[] {
  const [, behindScheme] = /^[\w-]+ +(\S+)$/.exec(value) ?? []
  const parts = value.split(/[\s,;="']+/).filter((part) => /\d/.test(part) || part.length >= 16)
  return [value, ...(behindScheme === undefined ? [] : [behindScheme]), ...parts]
}

/** A file may end with a line break, as editors leave it. */
function readValueFile(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new SluiceError({ id: 'header_file_unreadable', name, path, ...toThrown(error) }, { cause: error })
  }
}

/**
 * All headers of a plan as sent to `url`, names and values in turn. Throws `BAD_PLAN` if values from
 * variables or files are missing, or belong to another address.
 */
export function toHeaderList(headers: PlanHeaders = {}, values: HeaderValues | null, url: URL): string[] {
  if (Object.keys(headers).length === 0) return []
  const read = values?.toHeaders(url) ?? new Map<string, string>()
  return Object.entries(headers).flatMap(([name, written]) => {
    const value = parseHeaderValue(written).kind === 'text' ? written : read.get(name)
    if (value === undefined) throw new SluiceError({ id: 'header_values_missing', name })
    return [name, value]
  })
}

/** Unseals a secret of any kind from another thread. */
export function unseal(sealed: SealedSecret): ApiKey | ProxyCredentials | HeaderValues {
  switch (sealed.kind) {
    case 'api-key':
      return ApiKey.unseal(sealed)
    case 'proxy-credentials':
      return ProxyCredentials.unseal(sealed)
    case 'headers':
      return HeaderValues.unseal(sealed)
  }
}
