import type { ReadTx } from '../../database.ts'

/** A top-level attribute with a value: a text, a boolean or a whole number, as text. */
export type AttributeFilter = { readonly name: string; readonly value: string }

/** Up to this number of subjects with an attribute are found by their ids, not in the list's order. */
export const attributeIdsMax = 1000

/** Returns the ids of the subjects with an attribute; undefined if there are more than a few. */
export async function findFewIdsWithAttribute(
  reading: ReadTx,
  galleryId: string,
  { name, value }: AttributeFilter,
): Promise<readonly string[] | undefined> {
  const query = reading.build
    .selectFrom('subjectAttributes')
    .select('subjectId')
    .where('galleryId', '=', galleryId)
    .where('name', '=', name)
    .where('value', '=', value)
    .limit(attributeIdsMax + 1)
  const rows = await reading.run(query)
  return rows.length > attributeIdsMax ? undefined : rows.map(({ subjectId }) => subjectId)
}
