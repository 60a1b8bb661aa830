import { type ReadTx, type Store, type Tx } from '../database.ts'
import { findFaceModels, markSubjectChanged, removeFaces } from './faces.ts'
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
  for await (const part of readTemplates(store, retirement.modelId)) {
    const batch = await store.write(async (tx) => {
      const retired = await retireBatch(tx, retirement, part)
      if (templates === 0 && retired.templates > 0) await onFirstBatch?.(tx)
      return retired
    })
    templates += batch.templates
    faces += batch.faces
    onProgress?.(templates, total)
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

type TemplateBatch = { readonly galleryId: string; readonly faceIds: readonly string[] }

/** Reads the templates of a model once, in the order of an index, and yields those of one gallery. */
async function* readTemplates(store: Store, modelId: string) {
  for (let after: string | undefined = ''; after !== undefined;) {
    const rows = await store.read((tx) => {
      const query = tx.build.selectFrom('templates').select(['faceId', 'galleryId'])
      const further = query.where('modelId', '=', modelId).where('faceId', '>', after ?? '')
      return tx.run(further.orderBy('faceId').limit(templateBatchRows))
    })
    for (const [galleryId, ofGallery] of Map.groupBy(rows, (row) => row.galleryId))
      yield { galleryId, faceIds: ofGallery.map(({ faceId }) => faceId) }
    after = rows.at(-1)?.faceId
  }
}

/** Deletes those of the templates whose subjects also have a template of the active model. */
async function retireBatch(
  tx: Tx,
  { modelId, activeModelId }: ModelRetirement,
  { galleryId, faceIds: readFaceIds }: TemplateBatch,
): Promise<RetirementResult> {
  await lockGallery(tx, galleryId, 'exclusive')
  const query = tx.build.selectFrom('faces').select('subjectId').distinct()
  const subjects = await tx.run(query.where('faceId', 'in', readFaceIds))
  const subjectIds = subjects.map(({ subjectId }) => subjectId)
  // PostgreSQL would read the whole gallery for conditions on the other templates of each subject.
  const models = await findFaceModels(tx, subjectIds)
  const ready = new Set<string>()
  const kept = new Set<string>()
  for (const row of models) {
    if (row.modelId === activeModelId) ready.add(row.subjectId)
    if (row.modelId !== modelId) kept.add(row.faceId)
  }
  const rows = models
    .filter((row) => row.modelId === modelId && readFaceIds.includes(row.faceId))
    .filter(({ subjectId }) => ready.has(subjectId))
  if (rows.length === 0) return { templates: 0, faces: 0 }
  const faceIds = rows.map(({ faceId }) => faceId)
  const deletedFaces = faceIds.filter((faceId) => !kept.has(faceId)).length
  const sequence = await recordGalleryChange(tx, { galleryId, faces: -deletedFaces })
  await markForNewKey(tx, faceIds)
  for (const [subjectId, ofSubject] of Map.groupBy(rows, (row) => row.subjectId)) {
    const deleted = ofSubject.map(({ faceId }) => faceId).filter((faceId) => !kept.has(faceId))
    await removeFaces(tx, { galleryId, subjectId, sequence }, deleted)
    await markSubjectChanged(tx, { subjectId, sequence })
  }
  const retired = tx.build.deleteFrom('templates').where('modelId', '=', modelId)
  await tx.run(retired.where('faceId', 'in', faceIds))
  return { templates: rows.length, faces: deletedFaces }
}
