import { HttpError } from '../../lib/errors.ts'
import type { HttpRequest, Route } from '../route.ts'

/** Whether DELETE of a route below this path deletes by name. */
export function isDeletedByName(routes: readonly Route[], parent: string): boolean {
  return routes.some(({ method, path }) => method === 'DELETE' && path.startsWith(`${parent}/:`))
}

/**
 * A slash at the end of a path is ignored, but not where an empty name after it would delete a whole
 * collection, and never in place of a name.
 *
 * @param isCollection whether DELETE of this route deletes what DELETE of another route deletes by name.
 * @throws HttpError 404.
 */
export function requireDeletedName(request: HttpRequest, isCollection: boolean): HttpRequest {
  const { method, path, pathParams } = request
  const isNameless = Object.values(pathParams).includes('')
  if (method === 'DELETE' && path.endsWith('/') && (isCollection || isNameless))
    throw new HttpError(
      404,
      'No such route: the name after the last slash is missing. Send the name or, to delete the whole collection where a route does so, no slash at the end.',
    )
  return request
}
