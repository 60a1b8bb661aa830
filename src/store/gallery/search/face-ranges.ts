import assert from 'node:assert/strict'
import { dialectOf } from '../../dialect.ts'
import { sql } from '../../kysely.ts'
import type { ReadTx } from '../../tx.ts'
import type { FaceChangeCursor } from '../faces.ts'
import { joinStoredTemplates, type StoredTemplate } from '../templates.ts'

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
  const inOrder = following.orderBy('sequence').orderBy('faceId')
  const [end] = await tx.run(inOrder.limit(1).offset(faces - 1))
  if (end) return end
  // Fewer faces are left.
  const fromEnd = following.orderBy('sequence', 'desc').orderBy('faceId', 'desc')
  return (await tx.run(fromEnd.limit(1)))[0]
}

/** Between the texts of two rows. No id, number or time contains it. */
const separator = '\n'

type JoinedTemplates = { readonly [column in JoinedText]: string } & {
  readonly wrappedKeys: Uint8Array
  readonly sealed: Uint8Array
}
type JoinedText =
  | 'faceIds'
  | 'subjectIds'
  | 'modelIds'
  | 'keyIds'
  | 'expiries'
  | 'keyLengths'
  | 'sealedLengths'

/**
 * Finds the templates of the faces of a range, of all models, in no particular order. The database
 * returns them as one row of long values, because the conversion of each value of many rows takes
 * longer than the read.
 */
export async function findRangeTemplates(
  tx: ReadTx,
  { galleryId, after, to }: FaceRange,
): Promise<readonly StoredTemplate[]> {
  const { joinTexts, joinBytes } = dialectOf(tx.build)
  const joinColumn = (column: string) => joinTexts(sql.ref(column), separator)
  const joinLengths = (column: string) =>
    joinTexts(sql`cast(length(${sql.ref(column)}) as text)`, separator)
  const query = joinStoredTemplates(tx)
    .where('faces.galleryId', '=', galleryId)
    .where(isAfter(after, 'faces.'))
    .where(
      sql<boolean>`(${sql.ref('faces.sequence')}, ${sql.ref('faces.faceId')}) <= (${to.sequence}, ${to.faceId})`,
    )
    .select([
      joinColumn('templates.faceId').as('faceIds'),
      joinColumn('faces.subjectId').as('subjectIds'),
      joinColumn('templates.modelId').as('modelIds'),
      joinColumn('subjects.keyId').as('keyIds'),
      joinTexts(sql`coalesce(${sql.ref('subjects.expiresAtUtc')}, '')`, separator).as('expiries'),
      joinLengths('subjects.wrappedKey').as('keyLengths'),
      joinLengths('templates.sealed').as('sealedLengths'),
      joinBytes('subjects.wrappedKey').as('wrappedKeys'),
      joinBytes('templates.sealed').as('sealed'),
    ])
  // Without rows, all values are null.
  const [joined] = await tx.run<JoinedTemplates | { readonly faceIds: null }>(query)
  return joined && joined.faceIds !== null ? splitTemplates(galleryId, joined) : []
}

function splitTemplates(galleryId: string, joined: JoinedTemplates): StoredTemplate[] {
  const split = (column: JoinedText) => joined[column].split(separator)
  const faceIds = split('faceIds')
  const [subjectIds, modelIds, keyIds] = [split('subjectIds'), split('modelIds'), split('keyIds')]
  const expiries = split('expiries')
  const wrappedKeys = splitBytes(joined.wrappedKeys, split('keyLengths'))
  const sealed = splitBytes(joined.sealed, split('sealedLengths'))
  for (const { length } of [subjectIds, modelIds, keyIds, expiries, wrappedKeys, sealed])
    assert.equal(length, faceIds.length, 'all columns have the same number of rows')
  return faceIds.map((faceId, row) => ({
    faceId,
    galleryId,
    subjectId: subjectIds[row] ?? '',
    modelId: modelIds[row] ?? '',
    keyId: keyIds[row] ?? '',
    expiresAtUtc: expiries[row] || null,
    wrappedKey: wrappedKeys[row] ?? new Uint8Array(),
    sealed: sealed[row] ?? new Uint8Array(),
  }))
}

/** Returns views of the parts, which have these lengths. */
function splitBytes(bytes: Uint8Array, lengths: readonly string[]): Uint8Array[] {
  let offset = bytes.byteOffset
  const parts = lengths.map((length) => {
    const part = new Uint8Array(bytes.buffer, offset, Number(length))
    offset += part.length
    return part
  })
  assert.equal(offset, bytes.byteOffset + bytes.length, 'the parts have the length of the whole')
  return parts
}

function isAfter({ sequence, faceId }: FaceChangeCursor, table = '') {
  const position = sql`(${sql.ref(`${table}sequence`)}, ${sql.ref(`${table}faceId`)})`
  return sql<boolean>`${position} > (${sequence}, ${faceId})`
}
