import { InvalidArgumentError } from 'commander'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { PlanConnectionInput } from '../../../shared/plan/connection.ts'
import { type StoredConnection, toPlanConnection } from '../../../shared/plan/stored-connection.ts'
import { resolveFromCaller } from '../invocation.ts'
import type { DeploymentFlags } from './service-options.ts'

/** Certificates as options name them, over those of a stored connection. */
export function toTls(flags: DeploymentFlags, base: PlanConnectionInput['tls'], env: NodeJS.ProcessEnv) {
  if ((flags.clientCert === undefined) !== (flags.clientKey === undefined)) {
    const [given, missing] = flags.clientCert === undefined ? ['key', 'cert'] : ['cert', 'key']
    throw new InvalidArgumentError(`--client-${given} requires --client-${missing}`)
  }
  const tls = {
    ...base,
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

/** The proxy as options name it, over that of a stored connection. */
export function toProxy(
  flags: DeploymentFlags,
  base: PlanConnectionInput['proxy'],
): PlanConnectionInput['proxy'] {
  const { proxy: url, proxyCredentialsEnv: credentialsEnv } = flags
  if (url === undefined && credentialsEnv === undefined) return base
  // Credentials are for one proxy: another one is not shown those of the first.
  const chosen = url === undefined ? base : { url }
  if (chosen === undefined) {
    throw new InvalidArgumentError('--proxy-credentials-env requires --proxy')
  }
  return credentialsEnv === undefined ? chosen : { ...chosen, credentialsEnv }
}

/**
 * The connection that options name: those of a stored one, if any, with whatever options are given over them.
 * Throws `BAD_USAGE` where nothing says which service it is, and `InvalidArgumentError`.
 */
export function toConnectionInput(
  flags: DeploymentFlags,
  stored: StoredConnection | null,
  env: NodeJS.ProcessEnv,
): PlanConnectionInput {
  const base = stored === null ? undefined : toPlanConnection(stored)
  const baseUrl = flags.baseUrl ?? base?.baseUrl
  if (baseUrl === undefined) {
    throw new SluiceError({ id: 'base_url_missing' })
  }
  const tls = toTls(flags, base?.tls, env)
  const proxy = toProxy(flags, base?.proxy)
  return {
    ...base,
    baseUrl,
    ...(flags.taskBaseUrl === undefined ? {} : { taskBaseUrl: flags.taskBaseUrl }),
    ...(flags.apiKeyEnv === undefined ? {} : { apiKeyEnv: flags.apiKeyEnv }),
    ...(flags.timeout === undefined ? {} : { timeoutMs: flags.timeout }),
    ...(flags.deliveredCode === undefined ? {} : { deliveredCodes: flags.deliveredCode }),
    ...(tls === undefined ? {} : { tls }),
    ...(proxy === undefined ? {} : { proxy }),
  }
}
