import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { ConsoleResponses } from './responses.ts'
import { buildPath, type Api, type PathParams, type QueryParams } from './api.ts'

export const ApiContext = createContext<Api | undefined>(undefined)

export function useApi(): Api {
  const api = useContext(ApiContext)
  if (!api)
    throw new Error('useApi was called outside ApiContext. Render the component inside ConsoleApp.')
  return api
}

export type ApiQueryOptions<Data> = {
  readonly pathParams?: PathParams
  readonly query?: QueryParams
  /** False: no request is sent. */
  readonly enabled?: boolean
  /** Returns the time until the next request, or false for none. */
  readonly pollMs?: (data: Data | undefined) => number | false
}

/**
 * Fetches the response of a route. The previous page of a list stays visible while the next one
 * loads. A poll is a use of the session: it must stop when the user is absent. It pauses while the tab
 * is hidden.
 */
export function useApiQuery<Path extends keyof ConsoleResponses>(
  path: Path,
  {
    pathParams = {},
    query = {},
    enabled = true,
    pollMs = () => false,
  }: ApiQueryOptions<ConsoleResponses[Path]> = {},
): UseQueryResult<ConsoleResponses[Path]> {
  const api = useApi()
  const url = buildPath(path, pathParams, query)
  return useQuery({
    queryKey: [path, url],
    // The server validates its responses with the schemas that these types come from.
    queryFn: async ({ signal }) => (await api.get(url, signal)) as ConsoleResponses[Path],
    enabled,
    refetchInterval: ({ state }) => pollMs(state.data),
    placeholderData: keepPreviousData,
  })
}

type ApiMutationOptions<Data> = {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly onSuccess?: (data: Data) => void
  readonly onError?: (error: Error) => void
  /** The route of a resource that this request deletes. It is not fetched again. */
  readonly removedPath?: keyof ConsoleResponses
}

export type ApiMutationVariables = {
  readonly pathParams?: PathParams
  readonly query?: QueryParams
  readonly body?: unknown
}

/** Sends a write request, then fetches all visible data again: a write can affect any of it. */
export function useApiMutation<Data = unknown>({
  method,
  path,
  onSuccess,
  onError,
  removedPath,
}: ApiMutationOptions<Data>): UseMutationResult<Data, Error, ApiMutationVariables> {
  const api = useApi()
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ pathParams, query, body }: ApiMutationVariables) =>
      // The server validates this response too.
      (await api.send(method, buildPath(path, pathParams, query), body)) as Data,
    ...(onError && { onError }),
    onSuccess: (data) => {
      onSuccess?.(data)
      void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== removedPath })
    },
  })
}
