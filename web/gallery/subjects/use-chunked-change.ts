import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useApi } from '../../api/use-api.ts'
import type { WritePath, WriteResponses } from '../../api/responses.ts'

type ChunkedChange<Path extends WritePath<'POST'>> = {
  readonly projectId: string
  readonly path: Path
  /** The most subjects of one request. */
  readonly chunkMax: number
  readonly bodyOf: (subjectIds: readonly string[]) => unknown
  /** The number of subjects that a response is about, from the first of its request; by default all. */
  readonly countDone?: (response: WriteResponses['POST'][Path]) => number
  readonly onDone: (responses: readonly WriteResponses['POST'][Path][]) => void
}

export type ChangeProgress = {
  /** The subjects of completed requests. */
  readonly done: number
  readonly isRunning: boolean
  readonly error: unknown
}

/**
 * Sends a change of many subjects in several requests. After a failure, the change continues with the
 * subjects that are left.
 */
export function useChunkedChange<Path extends WritePath<'POST'>>(change: ChunkedChange<Path>) {
  const api = useApi()
  const client = useQueryClient()
  const [progress, setProgress] = useState<ChangeProgress>({
    done: 0,
    isRunning: false,
    error: undefined,
  })
  const responses = useRef<WriteResponses['POST'][Path][]>([])
  const start = async (subjectIds: readonly string[]): Promise<void> => {
    const { projectId, path, chunkMax, bodyOf } = change
    let { done } = progress
    try {
      while (done < subjectIds.length) {
        setProgress({ done, isRunning: true, error: undefined })
        const chunk = subjectIds.slice(done, done + chunkMax)
        const parts = { pathParams: { projectId }, body: bodyOf(chunk) }
        const response = await api.send('POST', path, parts)
        responses.current.push(response)
        done += change.countDone?.(response) ?? chunk.length
      }
      setProgress({ done, isRunning: false, error: undefined })
      change.onDone(responses.current)
    } catch (error) {
      setProgress({ done, isRunning: false, error })
    }
    void client.invalidateQueries()
  }
  return { progress, start }
}
