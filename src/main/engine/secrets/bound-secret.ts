import { createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import { toAuthorization } from '../../../shared/service/endpoints.ts'
import { Redactor } from './redactor.ts'

/** A secret on its way to another thread of this process. Stays in memory. */
export interface SealedSecret {
  kind: 'api-key' | 'proxy-credentials' | 'headers'
  value: string
  origins: readonly string[]
  /** See {@link BoundSecret.source}. */
  source: string
}

/** Shortest secret removed from logs, characters. Shorter ones occur in ordinary words. */
const LOGGED_MIN_CHARACTERS = 4

const FINGERPRINT_DIGITS = 16

/** Every secret that this thread has handled. */
export const handled = new Redactor(LOGGED_MIN_CHARACTERS)

/** Removes every key and proxy password that this thread has handled from a text for a log. */
export function redactSecrets(text: string): string {
  return handled.redact(text)
}

/** The addresses of a connection that requests go to. */
export type Addresses = Pick<PlanConnection, 'baseUrl' | 'taskBaseUrl'>

/** Scheme, host and port of each address, each once. */
export function toOrigins({ baseUrl, taskBaseUrl }: Addresses): string[] {
  const addresses = taskBaseUrl === undefined ? [baseUrl] : [baseUrl, taskBaseUrl]
  return [...new Set(addresses.map((address) => new URL(address).origin))]
}

/**
 * A secret that may be sent to certain origins only. It cannot be read, printed or stored: it is released
 * only as a header for one of its origins, or sealed for another thread.
 */
export abstract class BoundSecret {
  abstract readonly kind: SealedSecret['kind']
  /** Scheme, host and port of each address it may go to. */
  readonly origins: readonly string[]
  /** Its source, as a message continues after "the API key": `in the environment variable SLUICE_API_KEY`. */
  readonly source: string
  readonly #value: string

  protected constructor({ value, origins, source }: Omit<SealedSecret, 'kind'>) {
    this.#value = value
    handled.add(value)
    this.origins = Object.freeze([...origins])
    this.source = source
  }

  /** For another thread of this process. */
  seal(): SealedSecret {
    return { kind: this.kind, value: this.#value, origins: this.origins, source: this.source }
  }

  toString(): string {
    return `[secret for ${this.origins.join(', ')}]`
  }

  toJSON(): string {
    return this.toString()
  }

  [inspect.custom](): string {
    return this.toString()
  }

  /** Releases the secret for an origin. Throws the error of `refuse` for any other origin than its own. */
  protected reveal(url: URL, refuse: (found: string) => SluiceError): string {
    if (this.origins.includes(url.origin)) return this.#value
    throw refuse(url.origin)
  }

  protected get value(): string {
    return this.#value
  }

  /** 64 bits that tell secrets apart; without knowing `secret`, nobody can guess the value from them. */
  toFingerprint(secret: Uint8Array): string {
    return createHmac('sha256', secret).update(this.#value).digest('hex').slice(0, FINGERPRINT_DIGITS)
  }
}

/** An API key and the addresses of its deployment. */
export class ApiKey extends BoundSecret {
  readonly kind = 'api-key'

  /**
   * Binds a key to the addresses of a connection. Throws `NO_API_KEY` if it has characters that no header can
   * carry, such as a pasted line break; no message shows any of it. For `source` see
   * {@link BoundSecret.source}.
   */
  static create(key: string, addresses: Addresses, source: string): ApiKey {
    ApiKey.checkText(key, source)
    return new ApiKey({ value: key, origins: toOrigins(addresses), source })
  }

  /** Throws `NO_API_KEY` if a key has characters that no header can carry; see {@link BoundSecret.source}. */
  static checkText(key: string, source: string): void {
    if (/^[\x21-\x7e]+$/.test(key)) return
    throw new SluiceError({ id: 'key_unusable', source })
  }

  static unseal(sealed: SealedSecret): ApiKey {
    return new ApiKey(sealed)
  }

  /** Throws `NO_API_KEY` unless the key may go to every address of a connection. */
  check(addresses: Addresses): void {
    for (const origin of toOrigins(addresses)) this.reveal(new URL(origin), (found) => this.#refuse(found))
  }

  /** Value of the authorization header (docs/interface.md §5.1). Throws `NO_API_KEY` for another origin. */
  toHeader(url: URL): string {
    return toAuthorization(this.reveal(url, (found) => this.#refuse(found)))
  }

  /** Makes `redactor` remove the key. */
  redactBy(redactor: Redactor): void {
    redactor.add(this.value)
  }

  #refuse(found: string): SluiceError {
    return new SluiceError({ id: 'key_of_other_address', origins: this.origins, found })
  }
}

/** User name and password for a proxy, bound to that proxy. */
export class ProxyCredentials extends BoundSecret {
  readonly kind = 'proxy-credentials'

  private constructor(sealed: Omit<SealedSecret, 'kind'>) {
    super(sealed)
    this.redactBy(handled)
  }

  /** Binds `user:password`, read from a variable, to a proxy. Throws `BAD_PLAN` if there is no colon. */
  static create(credentials: string, proxyUrl: string, variable: string): ProxyCredentials {
    const { host, origin } = new URL(proxyUrl)
    const source = `in the environment variable ${variable}`
    if (credentials.includes(':'))
      return new ProxyCredentials({ value: credentials, origins: [origin], source })
    throw new SluiceError({ id: 'proxy_credentials_malformed', variable, host })
  }

  static unseal(sealed: SealedSecret): ProxyCredentials {
    return new ProxyCredentials(sealed)
  }

  /** Value of the proxy-authorization header. Throws `BAD_PLAN` for any other proxy than their own. */
  toHeader(url: URL): string {
    const credentials = this.reveal(
      url,
      (found) => new SluiceError({ id: 'proxy_credentials_of_other', origins: this.origins, found }),
    )
    return `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`
  }

  /** Makes `redactor` remove user name and password together, and the password alone. */
  redactBy(redactor: Redactor): void {
    redactor.add(this.value)
    redactor.add(this.value.slice(this.value.indexOf(':') + 1))
  }
}

/**
 * The text of the API key in an environment variable. Throws `NO_API_KEY` if it is missing or has characters
 * that no header can carry; no message shows any of it.
 */
export function readKeyText(env: NodeJS.ProcessEnv, variable: string): string {
  const key = env[variable]
  if (key === undefined || key === '') {
    throw new SluiceError({ id: 'key_not_set', variable, isEmpty: key === '' })
  }
  ApiKey.checkText(key, `in the environment variable ${variable}`)
  return key
}

/** Reads the API key in an environment variable for its addresses; see {@link readKeyText}. */
export function readApiKey(env: NodeJS.ProcessEnv, variable: string, addresses: Addresses): ApiKey {
  return ApiKey.create(readKeyText(env, variable), addresses, `in the environment variable ${variable}`)
}

/**
 * Reads the credentials of a connection's proxy from the environment variable it names; null if it names
 * none. Throws `BAD_PLAN` if the variable is missing or is not valid.
 */
export function readProxyCredentials(
  env: NodeJS.ProcessEnv,
  { proxy }: Pick<PlanConnection, 'proxy'>,
): ProxyCredentials | null {
  if (proxy?.credentialsEnv === undefined) return null
  const { url, credentialsEnv } = proxy
  const credentials = env[credentialsEnv]
  if (credentials !== undefined && credentials !== '') {
    return ProxyCredentials.create(credentials, url, credentialsEnv)
  }
  throw new SluiceError({
    id: 'proxy_credentials_not_set',
    variable: credentialsEnv,
    host: new URL(url).host,
  })
}
