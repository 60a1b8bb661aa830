import { sql } from '../../kysely.ts'
import type { ReadTx } from '../../tx.ts'
import type { FaceChangeCursor } from '../faces.ts'
import { selectStoredTemplates, type StoredTemplate } from '../templates.ts'

/** The faces of a gallery after one position in the order of their changes, up to another one. */
export type FaceRange = {
  readonly galleryId: string
  readonly after: FaceChangeCursor
  readonly to: FaceChangeCursor
}

/**
 * Returns the position of the last of the next faces of a gallery; undefined at the end. Faces with a
 * change after `sequenceMax` are not counted. An index contains all that is read.
 */
export async function findFaceRangeEnd(
  tx: ReadTx,
  { galleryId, after }: Pick<FaceRange, 'galleryId' | 'after'>,
  { faces, sequenceMax }: { readonly faces: number; readonly sequenceMax: number },
): Promise<FaceChangeCursor | undefined> {
  const following = tx.build
    .selectFrom('faces')
    .select(['sequence', 'faceId'])
    .where('galleryId', '=', galleryId)
    .where(isAfter(after))
    .where('sequence', '<=', sequenceMax)
    .orderBy('sequence')
    .orderBy('faceId')
    .limit(faces)
  const query = tx.build
    .selectFrom(following.as('following'))
    .selectAll()
    .orderBy('sequence', 'desc')
    .orderBy('faceId', 'desc')
    .limit(1)
  return (await tx.run(query))[0]
}

/** Finds the templates of the faces of a range, of all models, in no particular order. */
export function findRangeTemplates(
  tx: ReadTx,
  { galleryId, after, to }: FaceRange,
): Promise<readonly StoredTemplate[]> {
  const query = selectStoredTemplates(tx)
    .where('faces.galleryId', '=', galleryId)
    .where(isAfter(after, 'faces.'))
    .where(
      sql<boolean>`(${sql.ref('faces.sequence')}, ${sql.ref('faces.faceId')}) <= (${to.sequence}, ${to.faceId})`,
    )
  return tx.run(query)
}

function isAfter({ sequence, faceId }: FaceChangeCursor, table = '') {
  const position = sql`(${sql.ref(`${table}sequence`)}, ${sql.ref(`${table}faceId`)})`
  return sql<boolean>`${position} > (${sequence}, ${faceId})`
}
