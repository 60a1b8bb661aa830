import type { ReadTx } from '../../database.ts'

/** A top-level attribute with a value: a text, a boolean or a whole number, as text. */
export type AttributeFilter = { readonly name: string; readonly value: string }

/** Up to this number of subjects are found by their ids, not in the list's order. */
export const attributeIdsMax = 1000

type FewSubjects = { readonly galleryId: string } & (
  | { readonly attribute: AttributeFilter }
  | { readonly group: string }
)

/** Returns the ids of the subjects with an attribute or in a group; undefined for more than a few. */
export async function findFewIds({ build, run }: ReadTx, filter: FewSubjects) {
  const { galleryId } = filter
  const limit = attributeIdsMax + 1
  const ofGroup = build.selectFrom('subjectGroups').where('galleryId', '=', galleryId)
  const ofAttributes = build.selectFrom('subjectAttributes').where('galleryId', '=', galleryId)
  const rows =
    'group' in filter
      ? await run(ofGroup.select('subjectId').where('name', '=', filter.group).limit(limit))
      : await run(
          ofAttributes
            .select('subjectId')
            .where('name', '=', filter.attribute.name)
            .where('value', '=', filter.attribute.value)
            .limit(limit),
        )
  return rows.length > attributeIdsMax ? undefined : rows.map(({ subjectId }) => subjectId)
}
