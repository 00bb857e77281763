import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { MaskedText, removeQuotes, useContentShown } from './user-content.tsx'

/** Reads the request that a message of the service is about, as JSON text; null if it has no body. */
export type AskedRequest = Pick<
  UseQueryOptions<string | null>,
  'queryKey' | 'queryFn' | 'staleTime' | 'retry'
>

/**
 * The service's message, without its quotes of the request until content is shown. While the request is
 * unknown, all of it is masked.
 */
export function ServiceMessage(props: {
  message: string
  /** Null for Sluice's own messages, which quote nothing. */
  request: AskedRequest | null
  children: (message: string) => ReactNode
}) {
  const { message, request, children } = props
  const shown = useContentShown()
  if (shown || request === null || message === '') return children(message)
  return <WithoutQuotes {...props} request={request} />
}

function WithoutQuotes(props: {
  message: string
  request: AskedRequest
  children: (message: string) => ReactNode
}) {
  const { data } = useQuery(props.request)
  if (data === undefined) return <MaskedText text={props.message} revealed={false} />
  return props.children(removeQuotes(props.message, data))
}
