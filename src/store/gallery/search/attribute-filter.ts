import { type ReadTx, sql } from '../../database.ts'

/** A top-level attribute with a value: a text, a boolean or a whole number, as text. */
export type AttributeFilter = { readonly name: string; readonly value: string }

/** Up to this number of subjects are found by their ids, not in the list's order. */
export const attributeIdsMax = 1000

type FewSubjects = {
  readonly galleryId: string
  readonly attribute?: AttributeFilter | undefined
  readonly group?: string | undefined
}

/** Returns the ids of the subjects with an attribute or in a group; undefined for more than a few. */
export async function findFewIds(
  reading: ReadTx,
  { galleryId, attribute, group = '' }: FewSubjects,
): Promise<readonly string[] | undefined> {
  const { name, value } = attribute ?? { name: group, value: undefined }
  let query = reading.build
    .selectFrom(value === undefined ? 'subjectGroups' : 'subjectAttributes')
    .select('subjectId')
    .where('galleryId', '=', galleryId)
    .where('name', '=', name)
  if (value !== undefined) query = query.where(sql.ref('value'), '=', value)
  const rows = await reading.run(query.limit(attributeIdsMax + 1))
  return rows.length > attributeIdsMax ? undefined : rows.map(({ subjectId }) => subjectId)
}
