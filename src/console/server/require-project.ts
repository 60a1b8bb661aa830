import { HttpError } from '../../lib/errors.ts'
import { findProjectSummaries, type ProjectSummary } from '../../store/tenancy/project-summaries.ts'
import type { ReadTx } from '../../store/database.ts'
import type { ConsoleContext } from './console-route.ts'

/**
 * Returns the project in the path.
 *
 * @throws HttpError 404 when the account has no project with this id.
 */
export async function requireProject(
  tx: ReadTx,
  { pathParameters, identity }: Pick<ConsoleContext, 'pathParameters' | 'identity'>,
): Promise<ProjectSummary> {
  const { projectId = '' } = pathParameters
  const [project] =
    projectId === '' ? [] : await findProjectSummaries(tx, identity.accountId, projectId)
  if (!project) throw new HttpError(404, 'The account has no project with this id.')
  return project
}
