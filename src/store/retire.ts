import { sql } from 'kysely'
import type { Store } from './database.ts'
import { removeFaces, renumberFace } from './faces.ts'
import { countChange, holdGallery } from './galleries.ts'
import type { Reading, Tx } from './tx.ts'

export type Retirement = {
  /** The model whose templates are not needed any more. */
  readonly modelId: string
  /** The model by which every subject is to be known. */
  readonly activeModelId: string
}

/** What a retirement would take, and what keeps it from happening. */
export type RetirementFacts = {
  readonly templates: number
  /** Subjects that have a template of the model and none of the active one: they would be lost. */
  readonly dependentSubjects: number
  /** Faces of other subjects that have a template of the model alone: they go with it. */
  readonly facesOfItAlone: number
}

export type Retired = { readonly templates: number; readonly faces: number }

/** Templates that one transaction deletes: calls wait no longer than for a busy neighbour. */
const templatesAtATime = 500

/**
 * Deletes the templates of a model, and the faces that have no other, from all subjects that have a
 * template of the active model. A subject that has none stays as it is, whatever happened meanwhile.
 *
 * Safe beside a running server, which compares by the active model, and to be run again after it was
 * cut off.
 */
export async function retireTemplates(
  store: Store,
  which: Retirement,
  onProgress: (done: number, total: number) => void,
): Promise<Retired> {
  const { templates: total } = await store.read((reading) => retirementFacts(reading, which))
  let [templates, faces] = [0, 0]
  for (let some = 1; some > 0; onProgress(templates, total)) {
    const retired = await store.write((tx) => retireInOneGallery(tx, which))
    some = retired.templates
    templates += some
    faces += retired.faces
  }
  await store.checkpoint()
  return { templates, faces }
}

export async function retirementFacts(
  reading: Reading,
  which: Retirement,
): Promise<RetirementFacts> {
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
          .filterWhere((of) => of.not(of.exists(ofSubject(reading, activeModelId))))
          .as('dependentSubjects'),
        row.fn
          .countAll<number>()
          .filterWhere((of) =>
            of.and([
              of.exists(ofSubject(reading, activeModelId)),
              of.not(of.exists(ofFaceBeside(reading, modelId))),
            ]),
          )
          .as('facesOfItAlone'),
      ]),
  )
  return counted ?? { templates: 0, dependentSubjects: 0, facesOfItAlone: 0 }
}

async function retireInOneGallery(tx: Tx, which: Retirement): Promise<Retired> {
  const [found] = await tx.run(retirable(tx, which).select('faces.galleryId').limit(1))
  if (!found) return { templates: 0, faces: 0 }
  await holdGallery(tx, found.galleryId, 'alone')
  return retireSome(tx, which, found.galleryId)
}

/** Templates of the model whose subjects are known by the active one as well. */
function retirable(reading: Reading, { modelId, activeModelId }: Retirement) {
  return reading.build
    .selectFrom('templates')
    .innerJoin('faces', 'faces.faceId', 'templates.faceId')
    .where('modelId', '=', modelId)
    .where((row) => row.exists(ofSubject(reading, activeModelId)))
}

async function retireSome(tx: Tx, which: Retirement, galleryId: string): Promise<Retired> {
  const { modelId } = which
  const rows = await tx.run(
    retirable(tx, which)
      .where('faces.galleryId', '=', galleryId)
      .select((row) => ['faces.faceId', row.exists(ofFaceBeside(tx, modelId)).as('hasOther')])
      .limit(templatesAtATime),
  )
  const idsOf = (hasOther: boolean): string[] =>
    rows.filter((row) => Boolean(row.hasOther) === hasOther).map(({ faceId }) => faceId)
  const [kept, alone] = [idsOf(true), idsOf(false)]
  if (rows.length === 0) return { templates: 0, faces: 0 }
  const sequence = await countChange(tx, { galleryId, faces: -alone.length })
  await removeFaces(tx, { galleryId, sequence }, alone)
  if (kept.length > 0) {
    const old = tx.build.deleteFrom('templates').where('modelId', '=', modelId)
    await tx.run(old.where('faceId', 'in', kept))
    for (const faceId of kept) await renumberFace(tx, faceId, sequence)
  }
  return { templates: rows.length, faces: alone.length }
}

/**
 * Templates of the model that the subject of a row of `faces` has. A cross join, because SQLite takes
 * it in this order: from the subject's few faces, not from all templates of the model.
 */
function ofSubject({ build }: Reading, modelId: string) {
  return build
    .selectFrom('faces as own')
    .crossJoin('templates as known')
    .select('own.faceId')
    .where('own.subjectId', '=', sql.ref<string>('faces.subjectId'))
    .whereRef('known.faceId', '=', 'own.faceId')
    .where('known.modelId', '=', modelId)
}

/** Templates of other models that the face of a row of `faces` has. */
function ofFaceBeside({ build }: Reading, modelId: string) {
  return build
    .selectFrom('templates as other')
    .select('other.faceId')
    .where('other.faceId', '=', sql.ref<string>('faces.faceId'))
    .where('other.modelId', '!=', modelId)
}
