import { useState } from 'react'
import type { HealthReport, MeasuredHealth } from '../../api/responses.ts'
import { useApiMutation, useApiQuery } from '../../api/use-api.ts'

const path = '/projects/:projectId/health'

/** A running check is polled. */
const pollIntervalMs = 1_000

const emptyReport: HealthReport = { check: null, merges: [], distinct: [] }

/**
 * The last check of a gallery, the merges and the decisions. The server keeps a result for 15 minutes; a
 * page that is open keeps it longer, so that its owner can work through it.
 */
export function useGalleryCheck(projectId: string) {
  const pathParams = { projectId }
  const [kept, setKept] = useState<MeasuredHealth>()
  const query = useApiQuery(path, {
    pathParams,
    pollMs: (data) => data?.check?.state === 'running' && pollIntervalMs,
  })
  const start = useApiMutation({ method: 'POST', path })
  const report = query.data ?? emptyReport
  const { check } = report
  if (check?.state === 'measured' && check.measurementId !== kept?.measurementId) setKept(check)
  return {
    query,
    report,
    measured: check === null || check.state === 'measured' ? kept?.result : undefined,
    start: () => start.mutate({ pathParams }),
    isStarting: start.isPending,
    startError: start.error,
  }
}

export type GalleryCheck = ReturnType<typeof useGalleryCheck>
