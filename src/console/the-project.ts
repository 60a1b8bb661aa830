import { HttpError } from '../lib/errors.ts'
import { projectFacts, type ProjectFacts } from '../store/project-facts.ts'
import type { Reading } from '../store/tx.ts'
import type { ConsoleCall } from './route.ts'

/** The project that the path names. @throws HttpError 404 when the account has none of that id. */
export async function theProject(
  reading: Reading,
  { parts, visitor }: Pick<ConsoleCall, 'parts' | 'visitor'>,
): Promise<ProjectFacts> {
  const { projectId = '' } = parts
  const [found] = projectId === '' ? [] : await projectFacts(reading, visitor.accountId, projectId)
  if (!found) throw new HttpError(404, 'There is no such project.')
  return found
}
