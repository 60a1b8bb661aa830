import type { UseQueryResult } from '@tanstack/react-query'
import type { ConsoleResponses } from '../../api/responses.ts'
import { useApiQuery } from '../../api/use-api.ts'

/** The most subjects of one request, as the server limits it. */
export const subjectsMax = 200

/** Finds subjects by their ids, at most `subjectsMax`. Deleted ones are left out. */
export function useSubjects(
  projectId: string,
  subjectIds: readonly string[],
): UseQueryResult<ConsoleResponses['/projects/:projectId/subjects']> {
  const ids = [...new Set(subjectIds)].slice(0, subjectsMax)
  return useApiQuery('/projects/:projectId/subjects', {
    pathParams: { projectId },
    query: { subjectIds: ids.join(','), limit: subjectsMax },
    enabled: ids.length > 0,
  })
}
