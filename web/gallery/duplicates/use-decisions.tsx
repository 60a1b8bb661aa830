import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useApi, useApiMutation } from '../../api/use-api.ts'
import { showUndo } from '../../components/confirm/undo-notification.tsx'
import { subjectNameOf, type NamedSubject } from '../../format/subject-name.ts'

type PairDecision = {
  readonly message: string
  readonly undo: () => Promise<unknown>
  readonly undoneMessage: string
}

/** The text about a merge and its undo. */
export function describeMerge(kept: NamedSubject, ended: NamedSubject) {
  const [keptName, endedName] = [subjectNameOf(kept), subjectNameOf(ended)]
  return {
    message: `${endedName} was merged into ${keptName}.`,
    undoneMessage: `${keptName} and ${endedName} are two subjects again.`,
  }
}

/**
 * Returns a function that undoes a merge and fetches the visible data again. While it does, a second
 * call for the same merge, as of a double click, sends no request.
 */
export function useUndoMerge(projectId: string): (mergeId: string) => Promise<unknown> {
  const api = useApi()
  const client = useQueryClient()
  const running = useRef(new Map<string, Promise<unknown>>())
  const undo = async (mergeId: string): Promise<void> => {
    const pathParams = { projectId, mergeId }
    await api.send('POST', '/projects/:projectId/merges/:mergeId/undo', { pathParams })
    await client.invalidateQueries()
  }
  return (mergeId) => {
    const started =
      running.current.get(mergeId) ?? undo(mergeId).finally(() => running.current.delete(mergeId))
    running.current.set(mergeId, started)
    return started
  }
}

/** The decisions about pairs of subjects. Each can be undone from its notification, the last one again. */
export function useDecisions(projectId: string) {
  const [undos, setUndos] = useState<readonly (() => Promise<void>)[]>([])
  const distinct = useApiMutation({
    method: 'POST',
    path: '/projects/:projectId/subjects/:subjectId/distinct',
  })
  const record = (decision: PairDecision): void => {
    const undo = async (): Promise<void> => {
      await decision.undo()
      setUndos((old) => old.filter((other) => other !== shownUndo))
    }
    const shownUndo = showUndo({ ...decision, undo })
    setUndos((old) => [...old, shownUndo])
  }
  const setDistinct = (pair: readonly [NamedSubject, NamedSubject], isDistinct: boolean) =>
    distinct.mutateAsync({
      pathParams: { projectId, subjectId: pair[0].subjectId },
      body: { otherSubjectId: pair[1].subjectId, distinct: isDistinct },
    })
  return {
    record,
    /** Undoes the last decision that is not undone. */
    undoLast: undos.at(-1),
    error: distinct.error,
    markDistinct: async (pair: readonly [NamedSubject, NamedSubject]): Promise<void> => {
      const names = pair.map(subjectNameOf).join(' and ')
      await setDistinct(pair, true)
      record({
        message: `${names} are different people. They are no longer listed.`,
        undo: () => setDistinct(pair, false),
        undoneMessage: `${names} are listed as possible duplicates again.`,
      })
    },
  }
}

export type Decisions = ReturnType<typeof useDecisions>
