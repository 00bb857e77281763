import { findNearest } from '../../messages/find-nearest.ts'
import {
  fieldsOf,
  listFieldNames,
  OPERATIONS,
  parseFieldName,
  REQUEST_FIELD,
} from '../../operations/operations.ts'
import { sayCorrectedUrl, toBaseUrl } from '../../service/base-url.ts'
import type { Plan } from '../plan.ts'
import { findResolved } from '../resolved-host.ts'

/** Parts of a plan that are valid separately but contradict each other. */
export interface PlanConflict {
  /** The part that must change. */
  path: readonly PropertyKey[]
  message: string
}

/** What is wrong with a plan beyond the shape of its parts, without reading the source. */
export function findConflicts(plan: Plan): PlanConflict[] {
  return [
    ...findAddressConflicts(plan),
    ...findRouteConflicts(plan),
    ...findFieldConflicts(plan),
    ...findOperationConflicts(plan),
    ...findSourceConflicts(plan),
    ...findLoadConflicts(plan),
    ...findFixConflicts(plan),
    ...findOnlyNewConflicts(plan),
  ]
}

/** Addresses to which the path of an endpoint would be added twice. */
function findAddressConflicts({ connection }: Plan): PlanConflict[] {
  return (['baseUrl', 'taskBaseUrl'] as const).flatMap((key) => {
    const url = connection[key]
    if (url === undefined || sayCorrectedUrl(url) === null) return []
    const message = `has the path of an endpoint in it, which Sluice adds itself; use ${toBaseUrl(url)}`
    return [{ path: ['connection', key], message }]
  })
}

/** Addresses that would never be used, or routes that contradict each other. */
function findRouteConflicts({ connection, load }: Plan): PlanConflict[] {
  const { baseUrl, taskBaseUrl, resolve, unixSocket, proxy, keepAlive } = connection
  const urls = taskBaseUrl === undefined ? [baseUrl] : [baseUrl, taskBaseUrl]
  const conflict = (key: string, message: string) => ({ path: ['connection', key], message })
  const unused = (resolve ?? []).filter((one) => urls.every((url) => findResolved([one], url) === null))
  return [
    ...unused.map((one) =>
      conflict('resolve', `${one} is for another host or port than ${urls.join(' and ')}`),
    ),
    ...(resolve !== undefined && unixSocket !== undefined
      ? [conflict('resolve', 'a unix socket needs no address')]
      : []),
    ...(resolve !== undefined && proxy !== undefined
      ? [conflict('resolve', 'a proxy looks up the host itself')]
      : []),
    ...(unixSocket !== undefined && proxy !== undefined
      ? [conflict('unixSocket', 'cannot be reached through a proxy')]
      : []),
    ...(keepAlive === false && load?.httpVersion === '2'
      ? [conflict('keepAlive', 'HTTP/2 always keeps its connections; use HTTP/1.1')]
      : []),
  ]
}

/** Fields of a mapping that the operation does not have. */
function findFieldConflicts({ mapping, operation }: Plan): PlanConflict[] {
  const names = listFieldNames(operation)
  return Object.keys(mapping).flatMap((field) => {
    if (parseFieldName(field, operation) !== null) return []
    const nearest = findNearest(field, names)
    return [
      {
        path: ['mapping', field],
        message: `${operation.kind} has no field \`${field}\`${nearest === null ? '.' : `; did you mean ${nearest}?`} Its fields: ${names.join(', ')}`,
      },
    ]
  })
}

/** Fixes that do not apply to any row of the operation. */
function findFixConflicts({ fixes = [], operation, load }: Plan): PlanConflict[] {
  const names = fieldsOf(operation).flatMap((field) => (field === REQUEST_FIELD ? [] : [field.name]))
  return fixes.flatMap((fix, index) => {
    if (fix.kind === 'split') {
      if (operation.kind === 'task' && operation.api === 'v1' && load === undefined) return []
      const message = 'rows can be split only for tasks of v1 that are submitted once'
      return [{ path: ['fixes', index, 'kind'], message }]
    }
    if (!('field' in fix) || fix.field === undefined || names.includes(fix.field)) return []
    const nearest = findNearest(fix.field, names)
    const message = `${operation.kind} has no field \`${fix.field}\`${nearest === null ? '.' : `; did you mean ${nearest}?`} Its fields: ${names.join(', ')}`
    return [{ path: ['fixes', index, 'field'], message }]
  })
}

/** Restricting to new rows makes no sense if sending a row again only asks again. */
function findOnlyNewConflicts({ onlyNew, operation, load }: Plan): PlanConflict[] {
  if (onlyNew === undefined) return []
  if (load !== undefined) {
    return [{ path: ['onlyNew'], message: 'a load test repeats its rows, so none of them is skipped' }]
  }
  if (OPERATIONS[operation.kind].recognizedBy !== undefined) return []
  return [{ path: ['onlyNew'], message: 'the status of an appeal changes, so each is asked for again' }]
}

function findOperationConflicts({ operation }: Plan): PlanConflict[] {
  if (operation.kind !== 'task' || operation.api !== 'v2' || !operation.legacy) return []
  return [{ path: ['operation', 'legacy'], message: 'the legacy answer exists in v1 only' }]
}

function findSourceConflicts({ source }: Plan): PlanConflict[] {
  const conflicts: PlanConflict[] = []
  if (!source.header && source.headerRow !== undefined) {
    conflicts.push({
      path: ['source', 'headerRow'],
      message: 'names the columns, and the source is said to have no header',
    })
  }
  if (source.media?.kind === 'template' && !isMediaTemplate(source.media.template)) {
    conflicts.push({
      path: ['source', 'media', 'template'],
      message:
        'expected an http or https address with {{path}} in it and without user name or password, such as https://media.example.com/{{path}}',
    })
  }
  return conflicts
}

function findLoadConflicts({ load, operation, connection }: Plan): PlanConflict[] {
  if (load === undefined) return []
  if (operation.kind !== 'task') {
    return [
      {
        path: ['load'],
        message: `a load test submits tasks; ${operation.kind} sends each row once`,
      },
    ]
  }
  const address = (operation.api === 'v2' ? connection.taskBaseUrl : undefined) ?? connection.baseUrl
  if (load.httpVersion === '1.1' || new URL(address).protocol === 'https:') return []
  return [{ path: ['load', 'httpVersion'], message: `HTTP/2 needs an https address, found ${address}` }]
}

/** Whether a template gives each file an address of its own, without a password in it. */
function isMediaTemplate(template: string): boolean {
  const address = template.replaceAll('{{path}}', 'path')
  if (address === template || !URL.canParse(address)) return false
  const { protocol, username, password } = new URL(address)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}
