import { holdGallery } from '../../../store/galleries.ts'
import type { StoredTemplate } from '../../../store/templates.ts'
import { findSubject } from '../../../store/subjects.ts'
import type { Reading, Tx } from '../../../store/tx.ts'
import {
  putVectors,
  templatesInSpace,
  templatesOfModel,
  type NewVector,
} from '../../../store/vectors.ts'
import type { Template } from '../../../vision/view.ts'
import type { OpenStored } from '../../opener.ts'
import type { RememberedPlace } from '../gallery-search.ts'
import { rowPoint } from './point.ts'
import type { Spaces } from './spaces.ts'

/** With the gallery's key that wraps that of the subject. */
type KeyedPlace = RememberedPlace & { readonly keyId: string }

export type Vectoring = { readonly spaces: Spaces; readonly openStored: OpenStored }

/**
 * Keeps the vector of a template that is being stored. The subject is asked for again, now that the
 * gallery is locked: its key may have been rotated since it was read.
 */
export async function rememberVector(
  tx: Tx,
  place: RememberedPlace,
  template: Template,
  spaces: Spaces,
): Promise<void> {
  const subject = await findSubject(tx, place.galleryId, place)
  if (!subject) throw new Error(`there is no subject ${place.subjectId}`)
  const { keyId } = subject
  await putVectors(tx, [await vectorOf(tx, { ...place, keyId }, template, spaces)])
}

/** The vectors of stored templates; one that does not open has one that matches nobody. */
export async function vectorsOf(
  reading: Reading,
  rows: readonly StoredTemplate[],
  { spaces, openStored }: Vectoring,
): Promise<NewVector[]> {
  const vectors: NewVector[] = []
  for (const row of rows) {
    const template = await openStored(reading, row)
    const { galleryId, subjectId, faceId, modelId, keyId } = row
    const place = { galleryId, subjectId, faceId, keyId }
    vectors.push(
      template
        ? await vectorOf(reading, place, template, spaces)
        : { ...placeOf(place, modelId, spaces), slack: null, embedding: null },
    )
    template?.vector.fill(0)
  }
  return vectors
}

/** Keeps vectors of templates that are still there, and whose subject's key is still that one. */
export async function putVectorsOf(
  tx: Tx,
  rows: readonly StoredTemplate[],
  vectors: readonly NewVector[],
): Promise<void> {
  const [first] = rows
  if (!first) return
  const { galleryId, modelId } = first
  await holdGallery(tx, galleryId, 'alone')
  const faceIds = rows.map(({ faceId }) => faceId)
  const there = await templatesOfModel(tx, { galleryId, modelId }, faceIds)
  const keyOf = new Map(there.map(({ faceId, keyId }) => [faceId, keyId]))
  const isSame = ({ faceId, keyId }: StoredTemplate): boolean => keyOf.get(faceId) === keyId
  const same = new Set(rows.filter(isSame).map(({ faceId }) => faceId))
  await putVectors(
    tx,
    vectors.filter(({ faceId }) => same.has(faceId)),
  )
}

/** Moves some vectors of a gallery out of a space into that of their subjects. @returns how many. */
export async function moveVectors(
  tx: Tx,
  from: { readonly galleryId: string; readonly space: string | null; readonly limit: number },
  vectoring: Vectoring,
): Promise<number> {
  await holdGallery(tx, from.galleryId, 'alone')
  const rows = await templatesInSpace(tx, from)
  await putVectors(tx, await vectorsOf(tx, rows, vectoring))
  return rows.length
}

async function vectorOf(
  reading: Reading,
  place: KeyedPlace,
  template: Template,
  spaces: Spaces,
): Promise<NewVector> {
  const { modelId, vector } = template
  const kept = placeOf(place, modelId, spaces)
  const dimensions = vector.length + 1
  const rotation = await spaces.rotation(reading, kept.space, { modelId, dimensions })
  const { halves, slack } = rowPoint(template, rotation)
  return { ...kept, slack, embedding: halves }
}

function placeOf({ keyId, ...place }: KeyedPlace, modelId: string, spaces: Spaces) {
  const { galleryId, faceId, subjectId } = place
  return { galleryId, faceId, modelId, subjectId, space: spaces.of(keyId) }
}
