import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { errorMessageOf } from '../../api/api-error.ts'
import { ImportStop } from './enroll-entry.ts'
import type { RowResult } from './import-result.ts'

type ImportRun = {
  /** Runs the requests that are left. After a stop or a failure it continues with the failed one. */
  readonly start: () => Promise<void>
  /** Ends the run after the current request. */
  readonly stop: () => void
  readonly state: 'ready' | 'running' | 'stopped' | 'done'
  readonly results: readonly RowResult[]
  /** Why the run stopped by itself. */
  readonly problem: string | undefined
}

type SendRows<Entry> = (
  entries: readonly Entry[],
  signal: AbortSignal,
) => Promise<readonly RowResult[]>

/** Sends the batches of an import one after the other. */
export function useImportRun<Entry>(
  batches: readonly (readonly Entry[])[],
  send: SendRows<Entry>,
): ImportRun {
  const client = useQueryClient()
  const next = useRef(0)
  const abort = useRef<AbortController>(undefined)
  const [results, setResults] = useState<readonly RowResult[]>([])
  const [state, setState] = useState<ImportRun['state']>('ready')
  const [problem, setProblem] = useState<string>()
  // A closed import ends after the current request.
  useEffect(() => () => abort.current?.abort(), [])
  const start = async (): Promise<void> => {
    const { signal } = (abort.current = new AbortController())
    setState('running')
    setProblem(undefined)
    try {
      for (; next.current < batches.length && !signal.aborted; next.current++) {
        const sent = await send(batches[next.current] ?? [], signal)
        setResults((old) => [...old, ...sent])
      }
    } catch (error) {
      if (!signal.aborted)
        setProblem(error instanceof ImportStop ? error.message : errorMessageOf(error))
    }
    setState(next.current < batches.length ? 'stopped' : 'done')
    void client.invalidateQueries()
  }
  return { start, stop: () => abort.current?.abort(), state, results, problem }
}

/** Waits. @throws the reason of the signal if it is aborted first. */
export async function waitSeconds(seconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, seconds * 1000)
  const onAbort = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}
