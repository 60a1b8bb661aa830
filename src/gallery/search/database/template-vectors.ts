import { lockGallery } from '../../../store/gallery/galleries.ts'
import type { StoredTemplate } from '../../../store/gallery/templates.ts'
import type { ReadTx, Tx } from '../../../store/tx.ts'
import {
  upsertVectors,
  findModelTemplates,
  type NewVector,
} from '../../../store/gallery/vectors.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { DecryptStoredTemplate } from '../../keys/decrypt-stored-template.ts'
import type { VectorOwner } from '../gallery-search.ts'
import { augmentRow } from './augmented-vector.ts'

/** Inserts the vector of a template, in the transaction that inserts the template. */
export async function storeVector(tx: Tx, owner: VectorOwner, template: Template): Promise<void> {
  await upsertVectors(tx, [createVector(owner, template)])
}

/**
 * Returns the vectors of stored templates. A template that cannot be decrypted gets a vector without
 * coordinates, which matches nothing.
 */
export async function createVectors(
  reading: ReadTx,
  rows: readonly StoredTemplate[],
  decryptStored: DecryptStoredTemplate,
): Promise<NewVector[]> {
  const vectors: NewVector[] = []
  for (const row of rows) {
    const template = await decryptStored(reading, row)
    vectors.push(
      template
        ? createVector(row, template)
        : { ...vectorIdsOf(row, row.modelId), slack: null, embedding: null },
    )
    template?.vector.fill(0)
  }
  return vectors
}

/** Stores the vectors of those templates that still exist, for their present subjects. */
export async function storeExistingVectors(tx: Tx, vectors: readonly NewVector[]): Promise<void> {
  const [first] = vectors
  if (!first) return
  const { galleryId, modelId } = first
  await lockGallery(tx, galleryId, 'exclusive')
  const faceIds = vectors.map(({ faceId }) => faceId)
  const templates = await findModelTemplates(tx, { galleryId, modelId }, faceIds)
  const subjectIds = new Map(templates.map(({ faceId, subjectId }) => [faceId, subjectId]))
  const existing = vectors.flatMap((vector) => {
    const subjectId = subjectIds.get(vector.faceId)
    return subjectId === undefined ? [] : [{ ...vector, subjectId }]
  })
  await upsertVectors(tx, existing)
}

function createVector(owner: VectorOwner, template: Template): NewVector {
  const { float16, slack } = augmentRow(template)
  return { ...vectorIdsOf(owner, template.modelId), slack, embedding: float16 }
}

function vectorIdsOf({ galleryId, faceId, subjectId }: VectorOwner, modelId: string) {
  return { galleryId, faceId, modelId, subjectId }
}
