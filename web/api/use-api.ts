import {
  keepPreviousData,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query'
import { createContext, useCallback, useContext, useRef } from 'react'
import { buildPath, type Api, type RequestParts } from './api.ts'
import type { WriteMethod } from '../../src/console/server/console-route.ts'
import type { ConsoleResponses, WritePath, WriteResponses } from './responses.ts'

export const ApiContext = createContext<Api | undefined>(undefined)

export function useApi(): Api {
  const api = useContext(ApiContext)
  if (!api)
    throw new Error('useApi was called outside ApiContext. Render the component inside ConsoleApp.')
  return api
}

export type ApiQueryOptions<Data> = Omit<RequestParts, 'body'> & {
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
  return useQuery({
    queryKey: [path, buildPath(path, pathParams, query)],
    queryFn: ({ signal }) => api.get(path, { pathParams, query, signal }),
    enabled,
    refetchInterval: ({ state }) => pollMs(state.data),
    placeholderData: keepPreviousData,
  })
}

type ApiMutationOptions<Method extends WriteMethod, Path extends WritePath<Method>> = {
  readonly method: Method
  readonly path: Path
  readonly onSuccess?: (data: WriteResponses[Method][Path]) => void
  readonly onError?: (error: Error) => void
  /** The route of a resource that this request deletes. It and its parts are not fetched again. */
  readonly removedPath?: keyof ConsoleResponses
}

/** A write request, or a function that reads what the request depends on and returns it. */
type WriteRequest = RequestParts | (() => Promise<RequestParts>)

/**
 * Sends a write request, then fetches all visible data again: a write can affect any of it. While it runs,
 * `mutate` sends no further request, as of a double click.
 */
export function useApiMutation<Method extends WriteMethod, Path extends WritePath<Method>>({
  method,
  path,
  onSuccess,
  onError,
  removedPath,
}: ApiMutationOptions<Method, Path>): UseMutationResult<
  WriteResponses[Method][Path],
  Error,
  WriteRequest
> {
  const api = useApi()
  const client = useQueryClient()
  const isRunning = useRef(false)
  const mutation = useMutation({
    mutationFn: async (request: WriteRequest) =>
      api.send(method, path, typeof request === 'function' ? await request() : request),
    onSettled: () => void (isRunning.current = false),
    ...(onError && { onError }),
    onSuccess: (data) => {
      onSuccess?.(data)
      const isRemoved = (path: unknown): boolean =>
        removedPath !== undefined && String(path).startsWith(removedPath)
      void client.invalidateQueries({ predicate: ({ queryKey }) => !isRemoved(queryKey[0]) })
    },
  })
  const { mutate: send, reset: forget } = mutation
  const mutate: typeof send = useCallback(
    (...request) => {
      if (isRunning.current) return
      isRunning.current = true
      send(...request)
    },
    [send],
  )
  const reset = useCallback(() => {
    isRunning.current = false
    forget()
  }, [forget])
  return { ...mutation, mutate, reset }
}
