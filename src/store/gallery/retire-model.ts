import { sql } from 'kysely'
import type { Store } from '../database.ts'
import { removeFaces, markFaceChanged } from './faces.ts'
import { recordGalleryChange, lockGallery } from './galleries.ts'
import type { ReadTx, Tx } from '../tx.ts'

export type ModelRetirement = {
  /** The model whose templates are not needed any more. */
  readonly modelId: string
  /** The model by which every subject is to be known. */
  readonly activeModelId: string
}

/** What a retirement would take, and what keeps it from happening. */
export type RetirementImpact = {
  readonly templates: number
  /** Subjects that have a template of the model and none of the active one: they would be lost. */
  readonly dependentSubjects: number
  /** Faces of other subjects that have a template of the model alone: they go with it. */
  readonly facesOfItAlone: number
}

export type RetirementResult = { readonly templates: number; readonly faces: number }

/** Templates that one transaction deletes: calls wait no longer than for a busy neighbour. */
const templateBatchRows = 500

/**
 * Deletes the templates of a model, and the faces that have no other, from all subjects that have a
 * template of the active model. A subject that has none stays as it is, whatever happened meanwhile.
 *
 * Safe beside a running server, which compares by the active model, and to be run again after it was
 * cut off.
 */
export async function retireTemplates(
  store: Store,
  which: ModelRetirement,
  onProgress: (done: number, total: number) => void,
): Promise<RetirementResult> {
  const { templates: total } = await store.read((reading) => findRetirementImpact(reading, which))
  let [templates, faces] = [0, 0]
  for (let some = 1; some > 0; onProgress(templates, total)) {
    const retired = await store.write((tx) => retireGalleryBatch(tx, which))
    some = retired.templates
    templates += some
    faces += retired.faces
  }
  await store.checkpoint()
  return { templates, faces }
}

export async function findRetirementImpact(
  reading: ReadTx,
  which: ModelRetirement,
): Promise<RetirementImpact> {
  const { modelId, activeModelId } = which
  const [counted] = await reading.run(
    reading.build
      .selectFrom('templates')
      .innerJoin('faces', 'faces.faceId', 'templates.faceId')
      .where('modelId', '=', modelId)
      .select((row) => [
        row.fn.countAll<number>().as('templates'),
        row.fn
          .count<number>('faces.subjectId')
          .distinct()
          .filterWhere((of) => of.not(of.exists(templatesOfSubject(reading, activeModelId))))
          .as('dependentSubjects'),
        row.fn
          .countAll<number>()
          .filterWhere((of) =>
            of.and([
              of.exists(templatesOfSubject(reading, activeModelId)),
              of.not(of.exists(otherTemplatesOfFace(reading, modelId))),
            ]),
          )
          .as('facesOfItAlone'),
      ]),
  )
  return counted ?? { templates: 0, dependentSubjects: 0, facesOfItAlone: 0 }
}

async function retireGalleryBatch(tx: Tx, which: ModelRetirement): Promise<RetirementResult> {
  const [found] = await tx.run(selectRetirable(tx, which).select('faces.galleryId').limit(1))
  if (!found) return { templates: 0, faces: 0 }
  await lockGallery(tx, found.galleryId, 'alone')
  return retireBatch(tx, which, found.galleryId)
}

/** Templates of the model whose subjects are known by the active one as well. */
function selectRetirable(reading: ReadTx, { modelId, activeModelId }: ModelRetirement) {
  return reading.build
    .selectFrom('templates')
    .innerJoin('faces', 'faces.faceId', 'templates.faceId')
    .where('modelId', '=', modelId)
    .where((row) => row.exists(templatesOfSubject(reading, activeModelId)))
}

async function retireBatch(
  tx: Tx,
  which: ModelRetirement,
  galleryId: string,
): Promise<RetirementResult> {
  const { modelId } = which
  const rows = await tx.run(
    selectRetirable(tx, which)
      .where('faces.galleryId', '=', galleryId)
      .select((row) => [
        'faces.faceId',
        row.exists(otherTemplatesOfFace(tx, modelId)).as('hasOther'),
      ])
      .limit(templateBatchRows),
  )
  const idsOf = (hasOther: boolean): string[] =>
    rows.filter((row) => Boolean(row.hasOther) === hasOther).map(({ faceId }) => faceId)
  const [kept, alone] = [idsOf(true), idsOf(false)]
  if (rows.length === 0) return { templates: 0, faces: 0 }
  const sequence = await recordGalleryChange(tx, { galleryId, faces: -alone.length })
  await removeFaces(tx, { galleryId, sequence }, alone)
  if (kept.length > 0) {
    const old = tx.build.deleteFrom('templates').where('modelId', '=', modelId)
    await tx.run(old.where('faceId', 'in', kept))
    for (const faceId of kept) await markFaceChanged(tx, faceId, sequence)
  }
  return { templates: rows.length, faces: alone.length }
}

/**
 * Templates of the model that the subject of a row of `faces` has. A cross join, because SQLite takes
 * it in this order: from the subject's few faces, not from all templates of the model.
 */
function templatesOfSubject({ build }: ReadTx, modelId: string) {
  return build
    .selectFrom('faces as own')
    .crossJoin('templates as known')
    .select('own.faceId')
    .where('own.subjectId', '=', sql.ref<string>('faces.subjectId'))
    .whereRef('known.faceId', '=', 'own.faceId')
    .where('known.modelId', '=', modelId)
}

/** Templates of other models that the face of a row of `faces` has. */
function otherTemplatesOfFace({ build }: ReadTx, modelId: string) {
  return build
    .selectFrom('templates as other')
    .select('other.faceId')
    .where('other.faceId', '=', sql.ref<string>('faces.faceId'))
    .where('other.modelId', '!=', modelId)
}
