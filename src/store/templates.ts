import { sql } from 'kysely'
import type { SubjectRow, TemplateRow } from './schema.ts'
import type { Reading, Tx } from './tx.ts'

export function templatesOf(reading: Reading, subjectId: string): readonly TemplateRow[] {
  const query = reading.build
    .selectFrom('templates')
    .selectAll()
    .where('subjectId', '=', subjectId)
    .orderBy('createdAtUtc')
    .orderBy('faceId')
  return reading.run(query)
}

/** How many templates each subject has. */
export function templateCounts(
  reading: Reading,
  subjectIds: readonly string[],
): ReadonlyMap<string, number> {
  if (subjectIds.length === 0) return new Map()
  const query = reading.build
    .selectFrom('templates')
    .select((row) => ['subjectId', row.fn.countAll<number>().as('count')])
    .where('subjectId', 'in', subjectIds)
    .groupBy('subjectId')
  return new Map(reading.run(query).map(({ subjectId, count }) => [subjectId, count]))
}

export function addTemplate(tx: Tx, template: TemplateRow): void {
  tx.run(tx.build.insertInto('templates').values(template))
}

export type Removed = { readonly galleryId: string; readonly sequence: number }

/** Removes templates, and tells the gallery's copies so. */
export function removeTemplates(
  tx: Tx,
  { galleryId, sequence }: Removed,
  faceIds: readonly string[],
) {
  if (faceIds.length === 0) return
  const rows = faceIds.map((faceId) => ({ galleryId, sequence, faceId }))
  tx.run(tx.build.insertInto('removals').values(rows))
  tx.run(tx.build.deleteFrom('templates').where('faceId', 'in', faceIds))
}

/** Makes copies of the gallery look at a subject's templates again: its groups have changed. */
export function renumberTemplates(tx: Tx, subjectId: string, sequence: number): void {
  tx.run(tx.build.updateTable('templates').set({ sequence }).where('subjectId', '=', subjectId))
}

/** A template as it has become, or that it is no more. */
export type TemplateChange = {
  readonly sequence: number
  readonly faceId: string
  readonly template: (TemplateRow & Pick<SubjectRow, 'keyId' | 'wrappedKey'>) | undefined
}

export type ChangePlace = { readonly sequence: number; readonly faceId: string }

/** Changes of a gallery after a place, in their order. */
export function changesAfter(
  reading: Reading,
  galleryId: string,
  { sequence, faceId }: ChangePlace,
  limit: number,
): readonly TemplateChange[] {
  const after = sql<boolean>`(sequence, faceId) > (${sequence}, ${faceId})`
  const page = reading.build
    .selectFrom('templates')
    .select(['sequence', 'faceId', sql<0 | 1>`1`.as('isThere')])
    .where('galleryId', '=', galleryId)
    .where(after)
    .unionAll(
      reading.build
        .selectFrom('removals')
        .select(['sequence', 'faceId', sql<0 | 1>`0`.as('isThere')])
        .where('galleryId', '=', galleryId)
        .where(after),
    )
    .orderBy('sequence')
    .orderBy('faceId')
    .limit(limit)
  const places = reading.run(page)
  const rows = templateRows(
    reading,
    places.flatMap((place) => (place.isThere ? [place.faceId] : [])),
  )
  return places.map((place) => ({
    sequence: place.sequence,
    faceId: place.faceId,
    template: rows.get(place.faceId),
  }))
}

function templateRows(reading: Reading, faceIds: readonly string[]) {
  if (faceIds.length === 0) return new Map<string, never>()
  const query = reading.build
    .selectFrom('templates')
    .innerJoin('subjects', 'subjects.subjectId', 'templates.subjectId')
    .selectAll('templates')
    .select(['subjects.keyId', 'subjects.wrappedKey'])
    .where('faceId', 'in', faceIds)
  return new Map(reading.run(query).map((row) => [row.faceId, row]))
}

/** Removals are for copies that are behind; when there is no copy, they are no use. */
export function forgetRemovals(tx: Tx): void {
  tx.run(tx.build.deleteFrom('removals'))
}
