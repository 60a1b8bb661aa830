import type { BodyOf } from '../../src/console/server/console-route.ts'
import type { editProject } from '../../src/console/pages/projects.ts'
import type { ConsoleProject, WriteResponses } from '../api/responses.ts'
import { useApi, useApiMutation } from '../api/use-api.ts'
import { useQueryClient } from '@tanstack/react-query'

/** A change of the settings of a project. Null restores a default of the service. */
export type ProjectPatch = BodyOf<typeof editProject>

/** A saved project, and the change that was saved. */
export type SavedChange = readonly [
  saved: WriteResponses['PATCH']['/projects/:projectId'],
  change: ProjectPatch,
]

type SaveOptions = {
  readonly onSuccess?: (...saved: SavedChange) => void
  readonly onError?: (error: Error, change: ProjectPatch) => void
}

/** Saves a change of a project. */
export function useSaveProject({ projectId }: ConsoleProject, options: SaveOptions = {}) {
  const { onSuccess, onError } = options
  const save = useApiMutation({
    method: 'PATCH',
    path: '/projects/:projectId',
  })
  return {
    isPending: save.isPending,
    error: save.error,
    save: (change: ProjectPatch): void =>
      save.mutate(
        { pathParams: { projectId }, body: change },
        {
          onSuccess: (saved) => onSuccess?.(saved, change),
          onError: (error) => onError?.(error, change),
        },
      ),
  }
}

/**
 * Returns a function that restores what a saved change replaced, and fetches all visible data again.
 * The server refuses it if one of the saved values was changed since.
 */
export function useUndoChange({ projectId }: ConsoleProject) {
  const api = useApi()
  const client = useQueryClient()
  return async (...[{ replaced }, change, statement]: [...SavedChange, statement?: string]) => {
    const settings = Object.entries(change).filter(([name]) => name in replaced)
    const expected = Object.fromEntries(settings)
    const confirmedThreshold = replaced.identifyThreshold ?? undefined
    const body = { ...replaced, expected, statement, confirmedThreshold }
    try {
      await api.send('PATCH', '/projects/:projectId', { pathParams: { projectId }, body })
    } finally {
      await client.invalidateQueries()
    }
  }
}
