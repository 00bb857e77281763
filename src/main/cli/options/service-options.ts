import { type Command, InvalidArgumentError, Option } from 'commander'
import { SluiceError } from '../../../shared/messages/errors.ts'
import {
  CONNECTION_OPTIONS,
  type PlanConnectionInput,
  userAgentSchema,
} from '../../../shared/plan/connection.ts'
import {
  findHeaderFault,
  mapHeaderPaths,
  mergeHeaders,
  type PlanHeaders,
} from '../../../shared/plan/request-headers.ts'
import { resolvedHostSchema } from '../../../shared/plan/resolved-host.ts'
import {
  type ConnectionKey,
  type StoredConnection,
  toPlanConnection,
} from '../../../shared/plan/stored-connection.ts'
import { sayCorrectedUrl, toBaseUrl } from '../../../shared/service/base-url.ts'
import { resolveFromCaller } from '../invocation.ts'
import { addGivenKeyOptions, type GivenKeyFlags, toGivenKey } from './key-options.ts'
import {
  collect,
  parseBaseUrl,
  parseConnectionName,
  parseProxyUrl,
  parseVariableName,
} from './parse-values.ts'
import { addTableOptions, type FlagsOf, readFlags } from './table-options.ts'

/** What options say about a deployment; a stored connection adds the rest. */
export type DeploymentFlags = FlagsOf<typeof CONNECTION_OPTIONS> & {
  systemCa?: boolean
  ca?: string
  clientCert?: string
  clientKey?: string
  /** False for a direct connection. */
  proxy?: string | false
  systemProxy?: true
  proxyCredentialsEnv?: string
  /** False for a new connection per request. */
  keepalive?: boolean
  /** What `--header` gave. */
  headers?: PlanHeaders
  removeHeader?: string[]
}

/** Which deployment requests go to. */
export type ServiceFlags = DeploymentFlags &
  GivenKeyFlags & {
    connection?: string
  }

/** Declares where a deployment is and how to reach it, for `connection add` and every sending command. */
export function addDeploymentOptions(command: Command): Command {
  return addTableOptions(command, CONNECTION_OPTIONS, ['service'], {
    baseUrl: parseBaseUrl,
    taskBaseUrl: parseBaseUrl,
    apiKeyEnv: parseVariableName,
    deliveredCodes: collect,
    userAgent: parseUserAgent,
    resolve: collectResolved,
  })
    .addOption(createHeaderOption())
    .option('--keepalive', 'send several requests over a connection, as by default')
    .option('--no-keepalive', 'open a new connection for each request')
    .option('--no-traceparent', 'send no traceparent header, as by default')
    .option('--ca <file>', 'PEM file with additional trusted certificate authorities')
    .option('--system-ca', 'trust the certificate authorities of this system, too (default: yes)')
    .option('--no-system-ca', 'do not trust the certificate authorities of this system')
    .option('--client-cert <file>', 'PEM file with the client certificate; requires --client-key')
    .option('--client-key <file>', 'PEM file with the key of the client certificate')
    .option(
      '--proxy <url>',
      "HTTP or HTTPS proxy for every request (default: the system's, for https)",
      parseProxyUrl,
    )
    .option('--no-proxy', 'connect directly, without any proxy')
    .option('--system-proxy', "use the system's proxy for https, as by default")
    .option(
      '--proxy-credentials-env <name>',
      'environment variable with user:password for the proxy',
      parseVariableName,
    )
}

/** Declares `--remove-header`, for commands that start from existing headers. */
export function addRemoveHeaderOption(command: Command): Command {
  return command.option(
    '--remove-header <name>',
    'header of the connection or plan that requests go without; repeatable',
    collect,
  )
}

/** Declares the same and `--connection`. */
export function addServiceOptions(command: Command): Command {
  command
    .optionsGroup('Service:')
    .option(
      '--connection <name>',
      'stored connection; other options override it (default: the connection in use, unless --base-url is given)',
      parseConnectionName,
    )
  return addGivenKeyOptions(addRemoveHeaderOption(addDeploymentOptions(command)))
}

/** Notes on addresses that were given with the path of an endpoint, a sentence each. */
export function noteCorrectedUrls({ baseUrl, taskBaseUrl }: DeploymentFlags): string[] {
  return [baseUrl, taskBaseUrl].flatMap((url) => (url === undefined ? [] : (sayCorrectedUrl(url) ?? [])))
}

/** The connection that options give, without its keys and without endpoint paths in addresses. */
function toGivenConnection(flags: DeploymentFlags, env: NodeJS.ProcessEnv) {
  const { apiKeyEnv: _key, ...given } = readFlags(CONNECTION_OPTIONS, flags)
  const { headers } = flags
  const { baseUrl, taskBaseUrl, unixSocket } = given
  const fromCaller = (path: string) => resolveFromCaller(path, env)
  return {
    ...given,
    ...(baseUrl === undefined ? {} : { baseUrl: toBaseUrl(baseUrl) }),
    ...(taskBaseUrl === undefined ? {} : { taskBaseUrl: toBaseUrl(taskBaseUrl) }),
    ...(headers === undefined ? {} : { headers: mapHeaderPaths(headers, fromCaller) }),
    ...(unixSocket === undefined ? {} : { unixSocket: fromCaller(unixSocket) }),
    ...(flags.keepalive === undefined ? {} : { keepAlive: flags.keepalive }),
  }
}

/**
 * A connection's headers with those of `--header` and without those of `--remove-header`. Throws
 * `InvalidArgumentError` for a removed header that it does not have, or that is given as well.
 */
function toHeaders(
  { removeHeader = [] }: DeploymentFlags,
  before: PlanHeaders | undefined,
  given: PlanHeaders | undefined,
): { headers?: PlanHeaders | undefined } {
  const isOneOf = (headers: PlanHeaders | undefined, name: string) =>
    Object.keys(headers ?? {}).some((one) => one.toLowerCase() === name.toLowerCase())
  for (const name of removeHeader) {
    if (isOneOf(given, name)) {
      throw new InvalidArgumentError(`--header and --remove-header both name ${name}`)
    }
    if (!isOneOf(before, name)) {
      const names = Object.keys(before ?? {}).join(', ')
      throw new InvalidArgumentError(
        `--remove-header ${name}: the connection has ${names === '' ? 'no headers' : `only ${names}`}`,
      )
    }
  }
  const kept = Object.entries(before ?? {}).filter(
    ([name]) => !removeHeader.some((one) => one.toLowerCase() === name.toLowerCase()),
  )
  const merged = mergeHeaders(Object.fromEntries(kept), given)
  return removeHeader.length === 0 ? merged : { headers: merged.headers }
}

/** Removes the defaults from the help of all options so far, for a command that keeps earlier values. */
export function hideDefaults(command: Command): Command {
  for (const option of command.options) {
    option.description = option.description.replace(/ \(default: [^)]*\)$/, '')
  }
  return command
}

/** Parser of `--key LABEL=VARIABLE`, repeatable. Its error omits the text, which may be a key itself. */
export function collectKey(text: string, previous: ConnectionKey[] | undefined): ConnectionKey[] {
  const equals = text.indexOf('=')
  if (equals <= 0) {
    throw new InvalidArgumentError('expected LABEL=VARIABLE, such as second=SLUICE_API_KEY_2.')
  }
  const label = parseConnectionName(text.slice(0, equals))
  const env = parseVariableName(text.slice(equals + 1))
  if (previous?.some((key) => key.label === label)) {
    throw new InvalidArgumentError(`the key label ${label} is used twice.`)
  }
  return [...(previous ?? []), { label, env }]
}

/** `--no-header` is about the source, and not the opposite of `--header`. */
function createHeaderOption(): Option {
  const option = new Option(
    '--header <name: value>',
    "further header of every request: 'Name: text', or 'Name: ${VARIABLE}' or 'Name: @FILE' for a secret; repeatable",
  ).argParser(collectHeader)
  option.attributeName = () => 'headers'
  return option
}

/** Parser of `--header`, repeatable. Its error does not repeat the text: it may be a secret. */
function collectHeader(text: string, previous: PlanHeaders | undefined): PlanHeaders {
  const [, name, value] = /^([^:\s]+):[ \t]*(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError("expected 'Name: value', such as 'X-Tenant: acme'.")
  }
  const fault = findHeaderFault(name, value)
  if (fault !== null) throw new InvalidArgumentError(`${fault}.`)
  if (Object.keys(previous ?? {}).some((one) => one.toLowerCase() === name.toLowerCase())) {
    throw new InvalidArgumentError(`the header ${name} is given twice.`)
  }
  return { ...previous, [name]: value }
}

function parseUserAgent(text: string): string {
  if (userAgentSchema.safeParse(text).success) return text
  throw new InvalidArgumentError('expected printable ASCII of 1 to 256 characters.')
}

function collectResolved(text: string, previous: string[] | undefined): string[] {
  const parsed = resolvedHostSchema.safeParse(text)
  if (parsed.success) return [...(previous ?? []), text]
  throw new InvalidArgumentError(`${parsed.error.issues[0]?.message}, found \`${text}\`.`)
}

/** The certificates of options, over those of a stored connection. */
export function toTls(flags: DeploymentFlags, base: PlanConnectionInput['tls'], env: NodeJS.ProcessEnv) {
  if ((flags.clientCert === undefined) !== (flags.clientKey === undefined)) {
    const [given, missing] = flags.clientCert === undefined ? ['key', 'cert'] : ['cert', 'key']
    throw new InvalidArgumentError(`--client-${given} requires --client-${missing}`)
  }
  const tls = {
    ...base,
    ...(flags.systemCa === undefined ? {} : { systemAuthorities: flags.systemCa }),
    ...(flags.ca === undefined ? {} : { caFile: resolveFromCaller(flags.ca, env) }),
    ...(flags.clientCert === undefined || flags.clientKey === undefined
      ? {}
      : {
          certFile: resolveFromCaller(flags.clientCert, env),
          keyFile: resolveFromCaller(flags.clientKey, env),
        }),
  }
  return Object.keys(tls).length === 0 ? undefined : tls
}

/** The proxy of options, over that of a stored connection; empty if they give none. */
function toProxy(
  { proxy: url, systemProxy, proxyCredentialsEnv: credentialsEnv }: DeploymentFlags,
  base: PlanConnectionInput['proxy'],
): Pick<PlanConnectionInput, 'proxy' | 'systemProxy'> {
  if (systemProxy && url !== undefined) {
    throw new InvalidArgumentError(
      `--system-proxy cannot be combined with ${url === false ? '--no-proxy' : '--proxy'}`,
    )
  }
  const isNamed = url !== undefined && url !== false
  if (!isNamed && (systemProxy || url === false)) {
    if (credentialsEnv !== undefined)
      throw new InvalidArgumentError('--proxy-credentials-env requires --proxy')
    return { proxy: undefined, systemProxy: url !== false }
  }
  if (!isNamed && credentialsEnv === undefined) return {}
  // Credentials belong to one proxy: another never gets them.
  const chosen = isNamed ? { url } : base
  if (chosen === undefined) {
    throw new InvalidArgumentError('--proxy-credentials-env requires --proxy')
  }
  return {
    proxy: credentialsEnv === undefined ? chosen : { ...chosen, credentialsEnv },
    systemProxy: undefined,
  }
}

/** Known facts about a deployment, overridden by options except its key. Throws `InvalidArgumentError`. */
export function applyDeployment<Known extends Partial<PlanConnectionInput>>(
  known: Known,
  flags: DeploymentFlags,
  env: NodeJS.ProcessEnv,
) {
  const tls = toTls(flags, known.tls, env)
  const given = toGivenConnection(flags, env)
  return {
    ...known,
    ...given,
    ...toHeaders(flags, known.headers, given.headers),
    ...(tls === undefined ? {} : { tls }),
    ...toProxy(flags, known.proxy),
  }
}

/**
 * The connection that options name: a stored one, if any, with the overrides of options. Throws `BAD_USAGE`
 * if nothing names a service, and `InvalidArgumentError`.
 */
export function toConnectionInput(
  flags: ServiceFlags,
  stored: StoredConnection | null,
  env: NodeJS.ProcessEnv,
): PlanConnectionInput {
  const known: Partial<PlanConnectionInput> = stored === null ? {} : toPlanConnection(stored)
  const baseUrl = flags.baseUrl ?? known.baseUrl
  if (baseUrl === undefined) throw new SluiceError({ id: 'base_url_missing' })
  return overrideService({ ...known, baseUrl }, flags, env)
}

/**
 * The same service with the overrides of options. A key that was typed or given earlier is in no plan: the
 * connection keeps saying where it came from, unless a key is given now. Throws `InvalidArgumentError`.
 */
export function overrideService(
  { keyFrom, ...known }: PlanConnectionInput,
  flags: ServiceFlags,
  env: NodeJS.ProcessEnv,
): PlanConnectionInput {
  return {
    ...applyDeployment(known, flags, env),
    ...(toGivenKey(flags) ?? (keyFrom === undefined ? {} : { keyFrom })),
  }
}
