import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { StartedModelCommand } from '../../api/responses.ts'
import { useApiMutation, useApiQuery } from '../../api/use-api.ts'

/** A command of `facegate models`. The options have the names of the command line. */
export type ModelCommandText = {
  readonly command: 'install' | 'use' | 'verify' | 'remove' | 'retire' | 'qualify'
  readonly target?: string
  readonly options?: Readonly<Record<string, string | number | boolean>>
}

const path = '/models/command'
const pollIntervalMs = 1_000

/**
 * The last command of the server, which continues when the page is closed, and the start of the next
 * one. The models are read again when a command has ended.
 */
export function useModelCommand(mayChange: boolean, onStarted?: () => void) {
  const client = useQueryClient()
  const { data } = useApiQuery(path, {
    enabled: mayChange,
    pollMs: (read) => read?.run?.state === 'running' && pollIntervalMs,
  })
  const state = data?.run?.state
  useEffect(() => {
    if (state !== 'running')
      void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === '/models' })
  }, [client, state])
  const start = useApiMutation({ method: 'POST', path, ...(onStarted && { onSuccess: onStarted }) })
  const discard = useApiMutation({ method: 'DELETE', path })
  return {
    run: data?.run ?? undefined,
    incomingFolder: data?.incomingFolder ?? '',
    incoming: data?.incoming ?? [],
    isRunning: state === 'running',
    start: (body: ModelCommandText) => start.mutate({ body }),
    isStarting: start.isPending,
    error: start.error,
    discard: () => discard.mutate({}),
    isDiscarding: discard.isPending,
    discardError: discard.error,
  }
}

export type ModelRun = StartedModelCommand

/** Returns the command line that does the same. */
export function toCommandLine({ command, target, options = {} }: ModelCommandText): string {
  const flags = Object.entries(options).flatMap(([name, value]) => {
    if (typeof value === 'boolean') return value ? [`--${name}`] : []
    return [`--${name}`, quote(String(value))]
  })
  return ['facegate models', command, ...(target === undefined ? [] : [target]), ...flags].join(' ')
}

function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
