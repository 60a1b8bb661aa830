import assert from 'node:assert/strict'
import { type ReadTx, dialectOf, sql } from '../../database.ts'
import { joinStoredTemplates, type StoredTemplate } from '../templates.ts'

/** The faces of a gallery whose last changes are after one change, up to another one. */
export type FaceRange = {
  readonly galleryId: string
  readonly after: number
  readonly to: number
}

/**
 * Returns the change by which a range contains the next faces of a gallery, and whether there are as many
 * faces as requested; undefined at the end. A range contains all faces of its changes, so it can contain
 * more. Changes after `sequenceMax` are not counted. An index contains all that is read.
 */
export async function findFaceRangeEnd(
  tx: ReadTx,
  { galleryId, after }: Pick<FaceRange, 'galleryId' | 'after'>,
  { faces, sequenceMax }: { readonly faces: number; readonly sequenceMax: number },
) {
  const following = tx.build
    .selectFrom('faces')
    .select('sequence')
    .where('galleryId', '=', galleryId)
    .where('sequence', '>', after)
    .where('sequence', '<=', sequenceMax)
  const [end] = await tx.run(
    following
      .orderBy('sequence')
      .limit(1)
      .offset(faces - 1),
  )
  if (end) return { to: end.sequence, isFull: true }
  // Fewer faces are left.
  const [last] = await tx.run(following.orderBy('sequence', 'desc').limit(1))
  return last && { to: last.sequence, isFull: false }
}

/** Between the texts of two rows. No id, number or time contains it. */
const separator = '\n'

type JoinedTemplates = { readonly [column in JoinedText]: string } & {
  readonly wrappedKeys: Uint8Array
  readonly ciphertext: Uint8Array
}
type JoinedText =
  | 'faceIds'
  | 'subjectIds'
  | 'modelIds'
  | 'keyIds'
  | 'expiries'
  | 'keyLengths'
  | 'ciphertextLengths'

/**
 * Finds the templates of the faces of a range, of all models, in no particular order. The database
 * returns them as one row of long values, because the conversion of each value of many rows takes
 * longer than the read.
 */
export async function findRangeTemplates(tx: ReadTx, { galleryId, after, to }: FaceRange) {
  const { joinTexts, joinBytes } = dialectOf(tx.build)
  const joinColumn = (column: string) => joinTexts(sql.ref(column), separator)
  const joinLengths = (column: string) =>
    joinTexts(sql`cast(length(${sql.ref(column)}) as text)`, separator)
  const query = joinStoredTemplates(tx)
    .where('faces.galleryId', '=', galleryId)
    .where('faces.sequence', '>', after)
    .where('faces.sequence', '<=', to)
    .select([
      joinColumn('templates.faceId').as('faceIds'),
      joinColumn('faces.subjectId').as('subjectIds'),
      joinColumn('templates.modelId').as('modelIds'),
      joinColumn('subjects.keyId').as('keyIds'),
      joinTexts(sql`coalesce(${sql.ref('subjects.expiresAtUtc')}, '')`, separator).as('expiries'),
      joinLengths('subjects.wrappedKey').as('keyLengths'),
      joinLengths('templates.ciphertext').as('ciphertextLengths'),
      joinBytes('subjects.wrappedKey').as('wrappedKeys'),
      joinBytes('templates.ciphertext').as('ciphertext'),
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
  const ciphertext = splitBytes(joined.ciphertext, split('ciphertextLengths'))
  for (const { length } of [subjectIds, modelIds, keyIds, expiries, wrappedKeys, ciphertext])
    assert.equal(length, faceIds.length, 'all columns have the same number of rows')
  return faceIds.map((faceId, row) => ({
    faceId,
    galleryId,
    subjectId: subjectIds[row] ?? '',
    modelId: modelIds[row] ?? '',
    keyId: keyIds[row] ?? '',
    expiresAtUtc: expiries[row] || null,
    wrappedKey: wrappedKeys[row] ?? new Uint8Array(),
    ciphertext: ciphertext[row] ?? new Uint8Array(),
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
