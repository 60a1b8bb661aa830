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

/**
 * Counts the templates, subjects and faces that a retirement affects. It groups all templates by
 * subject: a search for each template takes PostgreSQL 30 s with 600,000.
 */
export async function findRetirementImpact(
  tx: ReadTx,
  { modelId, activeModelId }: ModelRetirement,
) {
  const bySubject = tx.build
    .selectFrom('templates')
    .innerJoin('faces', 'faces.faceId', 'templates.faceId')
    .groupBy('subjectId')
    .select(({ fn }) => [
      fn.countAll<number>().filterWhere('modelId', '=', modelId).as('retired'),
      fn.countAll<number>().filterWhere('modelId', '=', activeModelId).as('active'),
      fn.count('faces.faceId').distinct().as('faces'),
      fn.count('faces.faceId').distinct().filterWhere('modelId', '!=', modelId).as('kept'),
    ])
  const affected = tx.build.selectFrom(bySubject.as('bySubject')).where('retired', '>', 0)
  const query = affected.select(({ fn }) => [
    fn.sum<number | null>('retired').as('templates'),
    // Subjects with templates of the model and none of the active one. Their templates are kept.
    fn.countAll<number>().filterWhere('active', '=', 0).as('dependentSubjects'),
    fn.sum<number | null>('faces').filterWhere('active', '>', 0).as('faces'),
    fn.sum<number | null>('kept').filterWhere('active', '>', 0).as('keptFaces'),
  ])
  const [impact] = await tx.run(query)
  return {
    templates: impact?.templates ?? 0,
    dependentSubjects: impact?.dependentSubjects ?? 0,
    /** Faces of other subjects with a template of this model only. The faces are deleted. */
    facesWithOnlyThisModel: (impact?.faces ?? 0) - (impact?.keptFaces ?? 0),
  }
}

async function retireBatch(tx: Tx, retirement: ModelRetirement): Promise<RetirementResult> {
  const { modelId } = retirement
  const retirable = selectRetirable(tx, retirement)
  const [first] = await tx.run(retirable.select('faces.galleryId').limit(1))
  if (!first) return { templates: 0, faces: 0 }
  const { galleryId } = first
  await lockGallery(tx, galleryId, 'exclusive')
  const others = tx.build
    .selectFrom('templates as other')
    .select('other.faceId')
    .where('other.faceId', '=', sql.ref<string>('faces.faceId'))
    .where('other.modelId', '!=', modelId)
  const rows = await tx.run(
    retirable
      .where('faces.galleryId', '=', galleryId)
      .select((row) => ['faces.faceId', 'faces.subjectId', row.exists(others).as('hasOther')])
      .limit(templateBatchRows),
  )
  if (rows.length === 0) return { templates: 0, faces: 0 }
  const faceIds = rows.map(({ faceId }) => faceId)
  const deletedFaces = rows.filter((row) => !row.hasOther).length
  const sequence = await recordGalleryChange(tx, { galleryId, faces: -deletedFaces })
  await markForNewKey(tx, faceIds)
  for (const [subjectId, ofSubject] of Map.groupBy(rows, (row) => row.subjectId)) {
    const deleted = ofSubject.filter((row) => !row.hasOther).map(({ faceId }) => faceId)
    await removeFaces(tx, { galleryId, subjectId, sequence }, deleted)
    await markSubjectChanged(tx, { subjectId, sequence })
  }
  const retired = tx.build.deleteFrom('templates').where('modelId', '=', modelId)
  await tx.run(retired.where('faceId', 'in', faceIds))
  return { templates: rows.length, faces: deletedFaces }
}

/**
 * Selects the model's templates of subjects that also have a template of the active model. SQLite keeps
 * the order of a cross join: it starts with the subject's few faces and not with all templates.
 */
function selectRetirable({ build }: ReadTx, { modelId, activeModelId }: ModelRetirement) {
  const active = build
    .selectFrom('faces as own')
    .crossJoin('templates as active')
    .select('own.faceId')
    .where('own.subjectId', '=', sql.ref<string>('faces.subjectId'))
    .whereRef('active.faceId', '=', 'own.faceId')
    .where('active.modelId', '=', activeModelId)
  return build
    .selectFrom('templates')
    .innerJoin('faces', 'faces.faceId', 'templates.faceId')
    .where('modelId', '=', modelId)
    .where((row) => row.exists(active))
}
