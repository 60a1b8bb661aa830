import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { Answers } from './answers.ts'
import { addressOf, type Api, type PathParts, type Query } from './api.ts'

export const ApiContext = createContext<Api | undefined>(undefined)

export function useApi(): Api {
  const api = useContext(ApiContext)
  if (!api) throw new Error('useApi needs an ApiContext above it')
  return api
}

export type Asked = {
  readonly parts?: PathParts
  readonly query?: Query
  /** Not asked at all while false. */
  readonly enabled?: boolean
}

/**
 * What a route answers; while the next page of a list loads, the last one stays. Nothing is asked
 * again by the clock: that would keep the session of a user who went away from ending.
 */
export function useAnswer<Path extends keyof Answers>(
  path: Path,
  { parts = {}, query = {}, enabled = true }: Asked = {},
): UseQueryResult<Answers[Path]> {
  const api = useApi()
  const address = addressOf(path, parts, query)
  return useQuery({
    queryKey: [path, address],
    // The server checks its answers against the schemas that these types come from.
    queryFn: async ({ signal }) => (await api.get(address, signal)) as Answers[Path],
    enabled,
    placeholderData: keepPreviousData,
  })
}

type Sending<Answer> = {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly onDone?: (answer: Answer) => void
  /** The route of what is no longer there afterwards: it is not asked for again. */
  readonly ends?: keyof Answers
}

export type Written = {
  readonly parts?: PathParts
  readonly query?: Query
  readonly body?: unknown
}

/** A write. Whatever is on screen is asked for again afterwards: a write may show anywhere. */
export function useSend<Answer = unknown>({
  method,
  path,
  onDone,
  ends,
}: Sending<Answer>): UseMutationResult<Answer, Error, Written> {
  const api = useApi()
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ parts, query, body }: Written) =>
      // As above: checked by the server.
      (await api.send(method, addressOf(path, parts, query), body)) as Answer,
    onSuccess: (answer) => {
      onDone?.(answer)
      void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== ends })
    },
  })
}
