import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { ConsoleResponses } from './responses.ts'
import { buildPath, type Api, type PathParams, type QueryParams } from './api.ts'

export const ApiContext = createContext<Api | undefined>(undefined)

export function useApi(): Api {
  const api = useContext(ApiContext)
  if (!api) throw new Error('useApi needs an ApiContext above it')
  return api
}

export type ApiQueryOptions = {
  readonly pathParams?: PathParams
  readonly query?: QueryParams
  /** Not asked at all while false. */
  readonly enabled?: boolean
}

/**
 * What a route answers; while the next page of a list loads, the last one stays. Nothing is asked
 * again by the clock: that would keep the session of a user who went away from ending.
 */
export function useApiQuery<Path extends keyof ConsoleResponses>(
  path: Path,
  { pathParams: parts = {}, query = {}, enabled = true }: ApiQueryOptions = {},
): UseQueryResult<ConsoleResponses[Path]> {
  const api = useApi()
  const address = buildPath(path, parts, query)
  return useQuery({
    queryKey: [path, address],
    // The server checks its answers against the schemas that these types come from.
    queryFn: async ({ signal }) => (await api.get(address, signal)) as ConsoleResponses[Path],
    enabled,
    placeholderData: keepPreviousData,
  })
}

type ApiMutationOptions<Answer> = {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly onSuccess?: (answer: Answer) => void
  /** The route of what is no longer there afterwards: it is not asked for again. */
  readonly removedPath?: keyof ConsoleResponses
}

export type ApiMutationVariables = {
  readonly pathParams?: PathParams
  readonly query?: QueryParams
  readonly body?: unknown
}

/** A write. Whatever is on screen is asked for again afterwards: a write may show anywhere. */
export function useApiMutation<Answer = unknown>({
  method,
  path,
  onSuccess: onDone,
  removedPath: ends,
}: ApiMutationOptions<Answer>): UseMutationResult<Answer, Error, ApiMutationVariables> {
  const api = useApi()
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ pathParams: parts, query, body }: ApiMutationVariables) =>
      // As above: checked by the server.
      (await api.send(method, buildPath(path, parts, query), body)) as Answer,
    onSuccess: (answer) => {
      onDone?.(answer)
      void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== ends })
    },
  })
}
