import { useState } from 'react'
import type { HealthReport } from '../../api/responses.ts'
import { useApiMutation, useApiQuery } from '../../api/use-api.ts'
import { followCheck, isToFollow, type FollowedCheck } from './follow-check.ts'

const path = '/projects/:projectId/health'

/** A running check is polled. */
const pollIntervalMs = 1_000

const emptyReport: HealthReport = { check: null, merges: [], distinct: [] }
const startedProgress = { step: 'templates', done: 0, total: 0 } as const

/**
 * The last check of a gallery, the merges and the decisions. A server keeps a result for 15 minutes; a
 * page that is open keeps it longer, so that its owner can work through it.
 */
export function useGalleryCheck(projectId: string) {
  const pathParams = { projectId }
  const [followed, setFollowed] = useState<FollowedCheck>({ check: null, missed: 0 })
  const [receivedAtMs, setReceivedAtMs] = useState(0)
  const query = useApiQuery(path, {
    pathParams,
    pollMs: () => isToFollow(followed) && pollIntervalMs,
  })
  const start = useApiMutation({
    method: 'POST',
    path,
    onSuccess: ({ measurementId }) =>
      setFollowed({
        check: { measurementId, state: 'running', progress: startedProgress },
        missed: 0,
      }),
  })
  const { data = emptyReport, dataUpdatedAt } = query
  if (dataUpdatedAt !== receivedAtMs) {
    setReceivedAtMs(dataUpdatedAt)
    setFollowed(followCheck(followed, data.check))
  }
  const { check } = followed
  return {
    query,
    report: { ...data, check },
    measured: check?.state === 'measured' ? check.result : undefined,
    start: () => start.mutate({ pathParams }),
    isStarting: start.isPending,
    startError: start.error,
  }
}

export type GalleryCheck = ReturnType<typeof useGalleryCheck>
