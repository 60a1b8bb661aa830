import { HttpError } from '../../lib/errors.ts'
import { findProjectSummaries, type ProjectSummary } from '../../store/tenancy/project-summaries.ts'
import type { ReadTx } from '../../store/tx.ts'
import type { ConsoleContext } from './route.ts'

/** The project that the path names. @throws HttpError 404 when the account has none of that id. */
export async function requireProject(
  reading: ReadTx,
  { pathParameters: parts, identity: visitor }: Pick<ConsoleContext, 'pathParameters' | 'identity'>,
): Promise<ProjectSummary> {
  const { projectId = '' } = parts
  const [found] =
    projectId === '' ? [] : await findProjectSummaries(reading, visitor.accountId, projectId)
  if (!found) throw new HttpError(404, 'There is no such project.')
  return found
}
