import type { Gallery } from '../../../gallery/gallery.ts'
import { ActionError } from '../../../lib/errors.ts'

/**
 * Returns the groups of a search that no subject of the gallery belongs to.
 *
 * @throws ActionError GROUP_NOT_FOUND if none of the groups exists: the search could return no match.
 */
export async function findUnknownGroups(
  gallery: Pick<Gallery, 'read' | 'listGroups'>,
  galleryId: string,
  groups: readonly string[] = [],
): Promise<readonly string[]> {
  const names = [...new Set(groups)]
  if (names.length === 0) return []
  const found = await gallery.read((reading) => gallery.listGroups(reading, galleryId, { names }))
  const existing = new Set(found.map(({ name }) => name))
  const unknown = names.filter((name) => !existing.has(name))
  if (unknown.length === names.length)
    throw new ActionError(
      'GROUP_NOT_FOUND',
      `params.groups: no subject of the gallery belongs to ${unknown.join(', ')}`,
    )
  return unknown
}

/** Returns the warning about groups that do not exist. */
export function unknownGroupWarnings(unknown: readonly string[]): string[] {
  return unknown.length > 0
    ? [`groups: no subject of the gallery belongs to ${unknown.join(', ')}`]
    : []
}
