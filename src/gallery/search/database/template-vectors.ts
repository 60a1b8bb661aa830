import { lockGallery } from '../../../store/gallery/galleries.ts'
import type { StoredTemplate } from '../../../store/gallery/templates.ts'
import type { ReadTx, Tx } from '../../../store/tx.ts'
import {
  upsertVectors,
  findTemplatesInSpace,
  findModelTemplates,
  type NewVector,
} from '../../../store/gallery/vectors.ts'
import type { Template } from '../../../vision/image-analysis.ts'
import type { DecryptStoredTemplate } from '../../keys/decrypt-stored-template.ts'
import type { VectorOwner } from '../gallery-search.ts'
import { augmentRow } from './augmented-vector.ts'
import type { Spaces } from './spaces.ts'

export type VectorOptions = {
  readonly spaces: Spaces
  readonly decryptStored: DecryptStoredTemplate
}

/** Keeps the vector of a template that is being stored. */
export async function storeVector(
  tx: Tx,
  place: VectorOwner,
  template: Template,
  spaces: Spaces,
): Promise<void> {
  await upsertVectors(tx, [await createVector(tx, place, template, spaces)])
}

/** The vectors of stored templates; one that does not open has one that matches nobody. */
export async function createVectors(
  reading: ReadTx,
  rows: readonly StoredTemplate[],
  { spaces, decryptStored: openStored }: VectorOptions,
): Promise<NewVector[]> {
  const vectors: NewVector[] = []
  for (const row of rows) {
    const template = await openStored(reading, row)
    const { galleryId, subjectId, faceId, modelId, keyId } = row
    const place = { galleryId, subjectId, faceId, keyId }
    vectors.push(
      template
        ? await createVector(reading, place, template, spaces)
        : { ...vectorIdsOf(place, modelId, spaces), slack: null, embedding: null },
    )
    template?.vector.fill(0)
  }
  return vectors
}

/** Keeps vectors of templates that are still there, and whose subject's key is still that one. */
export async function storeUnchangedVectors(
  tx: Tx,
  rows: readonly StoredTemplate[],
  vectors: readonly NewVector[],
): Promise<void> {
  const [first] = rows
  if (!first) return
  const { galleryId, modelId } = first
  await lockGallery(tx, galleryId, 'exclusive')
  const faceIds = rows.map(({ faceId }) => faceId)
  const there = await findModelTemplates(tx, { galleryId, modelId }, faceIds)
  const keyOf = new Map(there.map(({ faceId, keyId }) => [faceId, keyId]))
  const isSame = ({ faceId, keyId }: StoredTemplate): boolean => keyOf.get(faceId) === keyId
  const same = new Set(rows.filter(isSame).map(({ faceId }) => faceId))
  await upsertVectors(
    tx,
    vectors.filter(({ faceId }) => same.has(faceId)),
  )
}

/** Moves some vectors of a gallery out of a space into that of their subjects. @returns how many. */
export async function moveVectors(
  tx: Tx,
  from: { readonly galleryId: string; readonly space: string | null; readonly limit: number },
  vectoring: VectorOptions,
): Promise<number> {
  await lockGallery(tx, from.galleryId, 'exclusive')
  const rows = await findTemplatesInSpace(tx, from)
  await upsertVectors(tx, await createVectors(tx, rows, vectoring))
  return rows.length
}

async function createVector(
  reading: ReadTx,
  place: VectorOwner,
  template: Template,
  spaces: Spaces,
): Promise<NewVector> {
  const { modelId, vector } = template
  const kept = vectorIdsOf(place, modelId, spaces)
  const dimensions = vector.length + 1
  const rotation = await spaces.rotation(reading, kept.space, { modelId, dimensions })
  const { float16: halves, slack } = augmentRow(template, rotation)
  return { ...kept, slack, embedding: halves }
}

function vectorIdsOf({ keyId, ...place }: VectorOwner, modelId: string, spaces: Spaces) {
  const { galleryId, faceId, subjectId } = place
  return { galleryId, faceId, modelId, subjectId, space: spaces.of(keyId) }
}
