import { type ReadTx, type Store, type Tx, sql } from '../database.ts'
import { removeFaces, markSubjectChanged } from './faces.ts'
import { recordGalleryChange, lockGallery } from './galleries.ts'
import { markForNewKey } from './crops.ts'
import { deletePages } from './search/gallery-pages.ts'

export type ModelRetirement = {
  /** The model whose templates are deleted. */
  readonly modelId: string
  /** The active model. A subject must have one of its templates before others are deleted. */
  readonly activeModelId: string
}

export type RetirementResult = { readonly templates: number; readonly faces: number }

export type RetirementHooks = {
  readonly onProgress?: (done: number, total: number) => void
  /** Runs in the first transaction that deletes templates. */
  readonly onFirstBatch?: (tx: Tx) => Promise<void>
}

/** Templates deleted in one transaction: subjects with 20 others each reach `changedTemplatesMax`. */
const templateBatchRows = 25

/**
 * Deletes the templates of a model, and faces without another template, from all subjects with a
 * template of the active model. Other subjects stay unchanged.
 *
 * It is safe beside a running server, which compares by the active model. After an interruption it
 * can be run again.
 */
export async function retireTemplates(
  store: Store,
  retirement: ModelRetirement,
  { onProgress, onFirstBatch }: RetirementHooks = {},
): Promise<RetirementResult> {
  const { templates: total } = await store.read((tx) => findRetirementImpact(tx, retirement))
  if (total > 0) await deletePages(store)
  let [templates, faces] = [0, 0]
  for (let isDone = false; !isDone; onProgress?.(templates, total)) {
    const batch = await store.write(async (tx) => {
      const retired = await retireBatch(tx, retirement)
      if (templates === 0 && retired.templates > 0) await onFirstBatch?.(tx)
      return retired
    })
    isDone = batch.templates === 0
    templates += batch.templates
    faces += batch.faces
  }
  await store.checkpoint()
  return { templates, faces }
}

/** Counts the templates, subjects and faces that a retirement affects. */
export async function findRetirementImpact(
  tx: ReadTx,
  { modelId, activeModelId }: ModelRetirement,
) {
  const [impact] = await tx.run(
    tx.build
      .selectFrom('templates')
      .innerJoin('faces', 'faces.faceId', 'templates.faceId')
      .where('modelId', '=', modelId)
      .select((row) => [
        row.fn.countAll<number>().as('templates'),
        // Subjects with templates of the model and none of the active one. Their templates are kept.
        row.fn
          .count<number>('faces.subjectId')
          .distinct()
          .filterWhere((face) => face.not(face.exists(templatesOfSubject(tx, activeModelId))))
          .as('dependentSubjects'),
        // Faces of other subjects with a template of this model only. The faces are deleted.
        row.fn
          .countAll<number>()
          .filterWhere((face) =>
            face.and([
              face.exists(templatesOfSubject(tx, activeModelId)),
              face.not(face.exists(otherTemplatesOfFace(tx, modelId))),
            ]),
          )
          .as('facesWithOnlyThisModel'),
      ]),
  )
  return impact ?? { templates: 0, dependentSubjects: 0, facesWithOnlyThisModel: 0 }
}

async function retireBatch(tx: Tx, retirement: ModelRetirement): Promise<RetirementResult> {
  const { modelId } = retirement
  const retirable = selectRetirable(tx, retirement)
  const [first] = await tx.run(retirable.select('faces.galleryId').limit(1))
  if (!first) return { templates: 0, faces: 0 }
  const { galleryId } = first
  await lockGallery(tx, galleryId, 'exclusive')
  const rows = await tx.run(
    retirable
      .where('faces.galleryId', '=', galleryId)
      .select((row) => [
        'faces.faceId',
        'faces.subjectId',
        row.exists(otherTemplatesOfFace(tx, modelId)).as('hasOther'),
      ])
      .limit(templateBatchRows),
  )
  const idsOf = (hasOther: boolean): string[] =>
    rows.filter((row) => Boolean(row.hasOther) === hasOther).map(({ faceId }) => faceId)
  const [keptIds, deletedIds] = [idsOf(true), idsOf(false)]
  if (rows.length === 0) return { templates: 0, faces: 0 }
  const sequence = await recordGalleryChange(tx, { galleryId, faces: -deletedIds.length })
  await markForNewKey(tx, [...keptIds, ...deletedIds])
  for (const [subjectId, ofSubject] of Map.groupBy(rows, (row) => row.subjectId)) {
    const deleted = ofSubject.filter((row) => !row.hasOther).map(({ faceId }) => faceId)
    await removeFaces(tx, { galleryId, subjectId, sequence }, deleted)
    await markSubjectChanged(tx, { subjectId, sequence })
  }
  if (keptIds.length > 0) {
    const query = tx.build.deleteFrom('templates').where('modelId', '=', modelId)
    await tx.run(query.where('faceId', 'in', keptIds))
  }
  return { templates: rows.length, faces: deletedIds.length }
}

/** Selects the model's templates of subjects that also have a template of the active model. */
function selectRetirable(tx: ReadTx, { modelId, activeModelId }: ModelRetirement) {
  return tx.build
    .selectFrom('templates')
    .innerJoin('faces', 'faces.faceId', 'templates.faceId')
    .where('modelId', '=', modelId)
    .where((row) => row.exists(templatesOfSubject(tx, activeModelId)))
}

/**
 * Selects the model's templates of the subject of a row of `faces`. SQLite keeps the order of a cross
 * join: it starts with the subject's few faces and not with all templates of the model.
 */
function templatesOfSubject({ build }: ReadTx, modelId: string) {
  return build
    .selectFrom('faces as own')
    .crossJoin('templates as active')
    .select('own.faceId')
    .where('own.subjectId', '=', sql.ref<string>('faces.subjectId'))
    .whereRef('active.faceId', '=', 'own.faceId')
    .where('active.modelId', '=', modelId)
}

/** Selects the other models' templates of a row of `faces`. */
function otherTemplatesOfFace({ build }: ReadTx, modelId: string) {
  return build
    .selectFrom('templates as other')
    .select('other.faceId')
    .where('other.faceId', '=', sql.ref<string>('faces.faceId'))
    .where('other.modelId', '!=', modelId)
}
