import type { BodyOf } from '../../src/console/server/console-route.ts'
import type { editProject } from '../../src/console/pages/projects.ts'
import type { ConsoleProject } from '../api/responses.ts'
import { useApi, useApiMutation } from '../api/use-api.ts'
import { useQueryClient } from '@tanstack/react-query'

/** A change of the settings of a project. Null restores a default of the service. */
export type ProjectPatch = BodyOf<typeof editProject>

type SaveOptions = {
  readonly onSuccess?: (saved: ConsoleProject, change: ProjectPatch) => void
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

/** Returns a function that sends a change and fetches all visible data again, for an undo. */
export function useUndoChange({ projectId }: ConsoleProject) {
  const api = useApi()
  const client = useQueryClient()
  return async (change: ProjectPatch): Promise<void> => {
    await api.send('PATCH', '/projects/:projectId', { pathParams: { projectId }, body: change })
    await client.invalidateQueries()
  }
}
